(** * Cosine and sine of real numbers

    The theorems of the other files speak of any two functions with the difference formulas. Here these are the cosine
    and the sine of the real numbers, so the theorems are about rotary position embedding as it is used; and a wrong
    variant is refuted. The real numbers of Mathematical Components rest on three classical axioms, which are
    printed. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import boolp reals sequences exp trigo.
From RopeLab Require Import Relative Rope Placements.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** An angle for each position, so that the angle of a difference is the difference of the angles. *)
Lemma cosine_of_difference (R : realType) (G : zmodType) (angle : G -> R) : additive angle ->
  forall m n, cos (angle (n - m)) = cos (angle m) * cos (angle n) + sin (angle m) * sin (angle n).
Proof. by move=> add m n; rewrite add cosB mulrC [sin _ * _]mulrC. Qed.
Lemma sine_of_difference (R : realType) (G : zmodType) (angle : G -> R) : additive angle ->
  forall m n, sin (angle (n - m)) = cos (angle m) * sin (angle n) - sin (angle m) * cos (angle n).
Proof. by move=> add m n; rewrite add sinB mulrC [cos _ * sin _]mulrC. Qed.
Definition real_rotation (R : realType) (G : zmodType) (angle : G -> R) (add : additive angle) : rotation R G :=
  @Rotation R G (fun n => cos (angle n)) (fun n => sin (angle n)) (cosine_of_difference add) (sine_of_difference add).

(** A frequency for each plane, with real positions or whole ones; on a grid with [a] axes, a frequency vector. *)
Lemma angle_at (R : realType) (theta : R) : additive (fun x : R => x * theta).
Proof. by move=> m n; rewrite mulrBl. Qed.
Lemma angle_after (R : realType) (theta : R) : additive (fun n : int => n%:~R * theta).
Proof. by move=> m n; rewrite rmorphB /= mulrBl. Qed.
Lemma angle_on_grid (R : realType) (a : nat) (theta : 'cV[R]_a) : additive (fun p : 'rV[R]_a => (p *m theta) 0 0).
Proof. by move=> p p'; rewrite mulmxBl !mxE. Qed.
Definition at_reals (R : realType) (theta : R) : rotation R R :=
  @real_rotation R _ (fun x => x * theta) (angle_at theta).
Definition at_steps (R : realType) (theta : R) : rotation R _ :=
  @real_rotation R _ (fun n : int => n%:~R * theta) (angle_after theta).
Definition on_grid (R : realType) (a : nat) (theta : 'cV[R]_a) : rotation R _ :=
  @real_rotation R _ (fun p : 'rV[R]_a => (p *m theta) 0 0) (angle_on_grid theta).

(** Chapters 1, 2 and 4: RoPE of the real numbers keeps the relative law, for all frequencies and all real positions.
    Claim: su19.rot-law, book.relative-any-d *)
Theorem rope_of_reals (R : realType) (theta : seq R) : relative_law (rope [seq at_reals t | t <- theta]).
Proof. exact: rope_law. Qed.

(** Chapter 4: and in the half layout of chapter 3.
    Claim: book.relative-basis
    Covers: the law of the half layout, and not that it is a change of basis. *)
Theorem half_of_reals (R : realType) (p : nat) (theta : 'I_p -> R) :
  relative_law (half (fun i => at_reals (theta i))).
Proof. exact: half_law. Qed.

(** Chapter 7: on a grid each plane has a frequency vector, and the law holds for offset vectors.
    Claim: book.axes-offset
    Covers: the law; the logit follows by logit_sees_offset in Rope.v. *)
Theorem rope_on_a_grid (R : realType) (a : nat) (theta : seq 'cV[R]_a) :
  relative_law (rope [seq on_grid w | w <- theta]).
Proof. exact: rope_law. Qed.

(** Chapter 4, the control: without the transpose the same statement is refuted, by one plane that turns by half a turn
    in one step, and the positions 1/2 and 1/2.
    Claim: book.relative-any-d, su19.rot-law
    Covers: the control, the statement without the transpose, which is refuted. *)
Theorem without_the_transpose (R : realType) :
  ~ (forall (theta : seq R) m n,
       let F := rope [seq at_reals t | t <- theta] in F m *m F n = F (n - m)).
Proof.
move=> /(_ [:: pi] 2%:R^-1 2%:R^-1) /=; rewrite subrr => /(congr1 ulsubmx).
rewrite mulmx_block !block_mxKul mulmx0 addr0 => /(congr1 ulsubmx).
rewrite mulmx_block !block_mxKul mul0r cos0 mulrC cos_pihalf sin_pihalf -!scalar_mxM => /matrixP /(_ 0 0).
rewrite !mxE /= !mulr0 add0r mulr1 => /eqP.
by rewrite mulr1n eq_sym -subr_eq0 opprK -mulr2n pnatr_eq0.
Qed.

Lemma rope_at_zero (R : realType) (G : zmodType) (t : seq (rotation R G)) :
  all (fun f => (cosine f 0 == 1) && (sine f 0 == 0)) t -> rope t 0 = 1%:M.
Proof.
elim: t => [|f t IH] /=; first by move=> _; apply/matrixP=> -[].
by case/andP=> /andP[/eqP -> /eqP ->] /IH ->; rewrite /plane oppr0 !raddf0 -!scalar_mx_block.
Qed.

Lemma rotation_of_law (R : realType) (d : nat) (F : R -> 'M[R]_d) (n : R) : relative_law F -> F 0 = 1%:M ->
  F n *m (F n)^T = 1%:M /\ \det (F n) = 1.
Proof.
move=> H F0; have [_ _ _ N] := position_zero H; rewrite (N n).2; split=> //.
by apply: (@determinant_half_way _ _ _ F n (n / 2%:R) H F0 _).2; rewrite -mulrDl -mulr2n -mulr_natr mulfK ?pnatr_eq0.
Qed.

(** Chapter 3: the half layout is orthogonal and has the determinant 1.
    Claim: blog.half-orth, blog.half-det *)
Theorem half_is_a_rotation (R : realType) (p : nat) (theta : 'I_p -> R) (n : R) :
  let F := half (fun i => at_reals (theta i)) in F n *m (F n)^T = 1%:M /\ \det (F n) = 1.
Proof.
move=> F; apply: rotation_of_law (half_of_reals theta) _; rewrite /F /half /=.
have -> : diag_mx (\row_(i < p) cos (0 * theta i)) = 1%:M :> 'M[R]_p.
  by rewrite -diag_const_mx; congr diag_mx; apply/rowP=> i; rewrite !mxE mul0r cos0.
have -> : diag_mx (\row_(i < p) sin (0 * theta i)) = 0 :> 'M[R]_p.
  by apply/matrixP=> i j; rewrite !mxE mul0r sin0 mul0rn.
by rewrite oppr0 -scalar_mx_block.
Qed.

(** Chapter 2: and so is one plane after another along the diagonal.
    Claim: blog.block-R *)
Theorem rope_is_a_rotation (R : realType) (theta : seq R) (n : R) :
  let F := rope [seq at_reals t | t <- theta] in F n *m (F n)^T = 1%:M /\ \det (F n) = 1.
Proof.
move=> F; apply: rotation_of_law (rope_of_reals theta) _; apply: rope_at_zero.
by rewrite all_map; apply/allP=> t _ /=; rewrite mul0r cos0 sin0 !eqxx.
Qed.

(** Chapter 8: the sixteen placements of RoPE with the exponential. Let one step turn some plane by no multiple of a
    whole turn, so that its cosine is not 1: exactly those are relative that treat queries and keys alike, and values
    and outputs alike.
    Claim: book.four-of-sixteen, thm-four-of-sixteen *)
Theorem placements_of_rope (R : realType) (theta : seq R) (causal : bool) (p : placement) :
  has (fun t => cos t != 1) theta ->
  relative (@expR R) (rope [seq at_steps t | t <- theta]) causal p <-> on_q p = on_k p /\ on_v p = on_o p.
Proof.
move=> moves; apply: which_placements_are_relative; first exact: expR_gt0.
- exact: expR_inj.
- exact: rope_law.
- by apply: rope_at_zero; rewrite all_map; apply/allP=> t _ /=; rewrite mul0r cos0 sin0 !eqxx.
elim: theta moves => //= t theta IH /orP[moves|/IH no] E.
  2: by apply: no; move: E; rewrite scalar_mx_block => /eq_block_mx[].
move: E; rewrite scalar_mx_block => /eq_block_mx[E _ _ _].
move: E; rewrite /plane scalar_mx_block => /eq_block_mx[E _ _ _].
by move: E moves => /matrixP /(_ 0 0); rewrite !mxE /= !mulr1n mul1r => ->; rewrite eqxx.
Qed.

Print Assumptions rope_of_reals.
Print Assumptions half_of_reals.
Print Assumptions rope_on_a_grid.
Print Assumptions without_the_transpose.
Print Assumptions half_is_a_rotation.
Print Assumptions rope_is_a_rotation.
Print Assumptions placements_of_rope.
