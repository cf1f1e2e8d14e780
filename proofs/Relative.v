(** * The relative law

    A family of square matrices, one for each position, keeps the relative law if the transpose of one of them times
    another depends on the difference of their positions alone. Chapter 4 asks what the law says, and which families
    keep it. Nothing is assumed of the numbers but that they form a commutative ring, and nothing of the positions but
    that they can be added and subtracted: whole numbers, real numbers, or points of a grid. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

(** The relative law. [F n] is the matrix at the position [n]. *)
Definition relative_law (R : comRingType) (d : nat) (G : zmodType) (F : G -> 'M[R]_d) : Prop :=
  forall m n, (F m)^T *m F n = F (n - m).

(** Chapter 4, the law is two laws: a transpose is a step back, and steps add.
    Claim: book.relative-two-laws, thm-two-laws *)
Theorem law_is_two_laws (R : comRingType) (d : nat) (G : zmodType) (F : G -> 'M[R]_d) :
  relative_law F <-> (forall n, (F n)^T = F (- n)) /\ (forall m n, F m *m F n = F (m + n)).
Proof.
split=> [H | [T M] m n]; last by rewrite T M addrC.
have T n : (F n)^T = F (- n).
  have E : F n = (F 0)^T *m F n by rewrite H subr0.
  by rewrite E trmx_mul trmxK H sub0r.
by split=> // m n; rewrite -[F m]trmxK T H opprK addrC.
Qed.

(** Chapter 4, what the family does at position zero: an orthogonal projection, the same for all members.
    Claim: book.relative-projection, eq-projection *)
Theorem position_zero (R : comRingType) (d : nat) (G : zmodType) (F : G -> 'M[R]_d) :
  relative_law F ->
  [/\ (F 0)^T = F 0, F 0 *m F 0 = F 0,
      forall n, F 0 *m F n = F n /\ F n *m F 0 = F n
    & forall n, (F n)^T *m F n = F 0 /\ F n *m (F n)^T = F 0].
Proof.
move=> H; have [T M] := (law_is_two_laws F).1 H.
split=> [||n|n]; first by rewrite T oppr0.
- by rewrite M addr0.
- by rewrite !M add0r addr0.
- by rewrite H T M !subrr.
Qed.

(** Chapter 4: one invertible member is enough, and the family begins at the identity and is orthogonal.
    Claim: book.relative-invertible *)
Theorem one_invertible_member (R : comUnitRingType) (d : nat) (G : zmodType) (F : G -> 'M[R]_d) (a : G) :
  relative_law F -> F a \in unitmx -> F 0 = 1%:M /\ forall n, (F n)^T *m F n = 1%:M.
Proof.
move=> H U; have [_ _ Z N] := position_zero H.
suff F0 : F 0 = 1%:M by split=> // n; rewrite (N n).1.
by rewrite -[F 0]mulmx1 -(mulmxV U) mulmxA (Z a).1.
Qed.

(** Chapter 4: another orthonormal basis, the same law.
    Claim: book.relative-basis
    Covers: the first sentence; for the half layout Rope.v proves the law by itself. *)
Theorem change_of_basis (R : comRingType) (d : nat) (G : zmodType) (F : G -> 'M[R]_d) (U : 'M[R]_d) :
  relative_law F -> U^T *m U = 1%:M -> relative_law (fun n => U *m F n *m U^T).
Proof.
by move=> H O m n; rewrite !trmx_mul trmxK -!mulmxA (mulmxA U^T U) O mul1mx (mulmxA _^T (F n)) H.
Qed.

(** Chapter 4: two families side by side keep the law, if each does. It is the step from one plane to many.
    Claim: book.relative-step *)
Theorem side_by_side (R : comRingType) (d e : nat) (G : zmodType) (F : G -> 'M[R]_d) (F' : G -> 'M[R]_e) :
  relative_law F -> relative_law F' -> relative_law (fun n => block_mx (F n) 0 0 (F' n)).
Proof.
by move=> H H' m n; rewrite tr_block_mx !trmx0 mulmx_block !(mulmx0, mul0mx, addr0, add0r) H H'.
Qed.

(** Chapter 3: a member that is the square of another has the determinant 1, and with positions that can be halved each
    member is such a square.
    Claim: book.det-half-way
    Covers: the algebra, from the relative law; that the rotations of real numbers keep it is Reals.v. *)
Theorem determinant_half_way (R : comRingType) (d : nat) (G : zmodType) (F : G -> 'M[R]_d) (n h : G) :
  relative_law F -> F 0 = 1%:M -> h + h = n -> F n = F h *m F h /\ \det (F n) = 1.
Proof.
move=> H F0 <-; have [_ M] := (law_is_two_laws F).1 H; rewrite -M; split=> //.
by rewrite det_mulmx -{1}det_tr -det_mulmx H subrr F0 det1.
Qed.

(** Chapter 8: values turn by their positions, and the mixture turns back by the query's. The result sees offsets alone,
    whatever the weights are.
    Claim: su19.vo-relative *)
Theorem values_see_offsets (R : comRingType) (d : nat) (G : zmodType) (F : G -> 'M[R]_d)
    (T : nat) (at_ : 'I_T -> G) (a : 'I_T -> R) (v : 'I_T -> 'cV[R]_d) (m : G) :
  relative_law F ->
  (F m)^T *m (\sum_j a j *: (F (at_ j) *m v j)) = \sum_j a j *: (F (at_ j - m) *m v j).
Proof. by move=> H; rewrite mulmx_sumr; apply: eq_bigr => j _; rewrite -scalemxAr mulmxA H. Qed.

Print Assumptions law_is_two_laws.
Print Assumptions position_zero.
Print Assumptions one_invertible_member.
Print Assumptions change_of_basis.
Print Assumptions side_by_side.
Print Assumptions determinant_half_way.
Print Assumptions values_see_offsets.
