(** * Rotary position embedding

    One rotation for each plane, in both layouts, in any number of planes. All that is used of the cosine and the sine
    of a position is that each has its difference formula, so the numbers form any commutative ring, and positions are
    whole, real, or points of a grid. Reals.v shows that the cosines and sines of real numbers are such rotations. *)
From mathcomp Require Import all_ssreflect all_algebra.
From RopeLab Require Import Relative.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

(** The turn of one plane: a cosine and a sine for each position, with the two difference formulas. *)
Record rotation (R : comRingType) (G : zmodType) := Rotation {
  cosine : G -> R;
  sine : G -> R;
  cosine_difference : forall m n, cosine (n - m) = cosine m * cosine n + sine m * sine n;
  sine_difference : forall m n, sine (n - m) = cosine m * sine n - sine m * cosine n
}.

(** The matrix with the rows (a, -b) and (b, a). *)
Definition plane (R : comRingType) (a b : R) : 'M[R]_(1 + 1) := block_mx a%:M (- b)%:M b%:M a%:M.

(** The interleaved layout: one plane after another along the diagonal. *)
Fixpoint width (R : comRingType) (G : zmodType) (t : seq (rotation R G)) : nat :=
  if t is _ :: t' then (1 + 1) + width t' else 0.
Fixpoint rope (R : comRingType) (G : zmodType) (t : seq (rotation R G)) (n : G) : 'M[R]_(width t) :=
  if t is f :: t' then block_mx (plane (cosine f n) (sine f n)) 0 0 (rope t' n) else 0.

(** The half layout: coordinate i and coordinate i + p are one plane. *)
Definition half (R : comRingType) (G : zmodType) (p : nat) (t : 'I_p -> rotation R G) (n : G) : 'M[R]_(p + p) :=
  let C := diag_mx (\row_i cosine (t i) n) in let S := diag_mx (\row_i sine (t i) n) in block_mx C (- S) S C.

(** Chapter 4, one plane multiplied out.
    Claim: book.relative-plane
    Covers: the algebra, from the two difference formulas; that cosine and sine have them is Reals.v. *)
Theorem plane_law (R : comRingType) (G : zmodType) (f : rotation R G) :
  relative_law (fun n => plane (cosine f n) (sine f n)).
Proof.
case: f => c s Hc Hs m n /=.
rewrite /plane tr_block_mx !tr_scalar_mx mulmx_block -!scalar_mxM -!raddfD /= Hc Hs.
by congr block_mx; congr (_%:M); rewrite ?mulNr ?mulrN ?opprK ?opprB // addrC.
Qed.

(** Chapters 1 and 4: the law in every even dimension, by one step for each plane.
    Claim: book.relative-any-d, su19.rot-law
    Covers: the algebra, from the two difference formulas; that cosine and sine have them is Reals.v. *)
Theorem rope_law (R : comRingType) (G : zmodType) (t : seq (rotation R G)) : relative_law (rope t).
Proof.
elim: t => [|f t IH]; first by move=> m n; rewrite !thinmx0.
by apply: side_by_side => //; apply: plane_law.
Qed.

(** Chapter 4: the law in the half layout of chapter 3.
    Claim: book.relative-basis
    Covers: the law of the half layout, from the two difference formulas, and not that it is a change of basis. *)
Theorem half_law (R : comRingType) (G : zmodType) (p : nat) (t : 'I_p -> rotation R G) : relative_law (half t).
Proof.
have dgE u v : u =1 v -> diag_mx (\row_(i < p) u i) = diag_mx (\row_i v i) :> 'M[R]_p.
  by move=> E; congr diag_mx; apply/rowP=> i; rewrite !mxE.
have dgM u v : diag_mx (\row_(i < p) u i) *m diag_mx (\row_i v i) = diag_mx (\row_i (u i * v i)) :> 'M[R]_p.
  by apply/matrixP=> i j; rewrite mul_diag_mx !mxE mulrnAr.
have dgD u v : diag_mx (\row_(i < p) u i) + diag_mx (\row_i v i) = diag_mx (\row_i (u i + v i)) :> 'M[R]_p.
  by apply/matrixP=> i j; rewrite !mxE mulrnDl.
have dgN u : - diag_mx (\row_(i < p) u i) = diag_mx (\row_i (- u i)) :> 'M[R]_p.
  by apply/matrixP=> i j; rewrite !mxE mulNrn.
move=> m n; rewrite /half !dgN tr_block_mx !tr_diag_mx mulmx_block !dgM !dgD.
congr block_mx; apply: dgE => i /=; case: (t i) => ci si Hc Hs /=; rewrite ?Hc ?Hs //.
- by rewrite mulrN opprB addrC.
- by rewrite mulNr addrC.
- by rewrite mulrNN addrC.
Qed.

(** Chapter 1: the query is turned by its position, the key by its own, and their logit sees the offset alone. It is
    said of any family that keeps the relative law, so of both layouts.
    Claim: su19.qk-relative, book.axes-offset
    Covers: the algebra, from the relative law; that the rotations of real numbers keep it is Reals.v. *)
Theorem logit_sees_offset (R : comRingType) (d : nat) (G : zmodType) (F : G -> 'M[R]_d) (m n : G) (q k : 'cV[R]_d) :
  relative_law F -> (F m *m q)^T *m (F n *m k) = q^T *m F (n - m) *m k.
Proof. by move=> H; rewrite trmx_mul !mulmxA -[_ *m _ *m F n]mulmxA H. Qed.

(** Chapter 1: all positions move by the same [s], and every logit stays.
    Claim: book.shift-both
    Covers: the algebra, from the relative law; that the rotations of real numbers keep it is Reals.v. *)
Theorem logit_keeps_under_a_shift (R : comRingType) (d : nat) (G : zmodType) (F : G -> 'M[R]_d) (m n s : G)
    (q k : 'cV[R]_d) :
  relative_law F -> (F (m + s) *m q)^T *m (F (n + s) *m k) = (F m *m q)^T *m (F n *m k).
Proof. by move=> H; rewrite !logit_sees_offset // opprD addrACA subrr addr0. Qed.

Print Assumptions plane_law.
Print Assumptions rope_law.
Print Assumptions half_law.
Print Assumptions logit_sees_offset.
Print Assumptions logit_keeps_under_a_shift.
