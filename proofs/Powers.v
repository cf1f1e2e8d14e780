(** * All families on the whole numbers

    On the whole numbers the powers of an orthogonal matrix keep the relative law, and a family that keeps it and begins
    at the identity is nothing else: chapter 4, and chapter 5 goes on from there. *)
From mathcomp Require Import all_ssreflect all_algebra.
From RopeLab Require Import Relative.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Lemma orthogonal_inverse (R : comUnitRingType) (d : nat) (O : 'M[R]_d.+1) :
  O^T *m O = 1%:M -> O \is a GRing.unit /\ O^-1 = O^T.
Proof.
move=> H; have [_ U] := mulmx1_unit H; split=> //.
by rewrite -[LHS]mul1r -[1]H -mulrA mulrV ?mulr1.
Qed.

Lemma transposed_power (R : comUnitRingType) (d : nat) (O : 'M[R]_d.+1) (n : nat) : (O ^+ n)^T = O^T ^+ n.
Proof. by elim: n => [|n IH]; [rewrite !expr0 trmx1 | rewrite exprS exprSr trmx_mul IH]. Qed.

(** Chapter 4: every power of an orthogonal matrix, also of a mirror, and also a negative power.
    Claim: su6.orthogonal-power *)
Theorem powers_are_solutions (R : comUnitRingType) (d : nat) (O : 'M[R]_d.+1) :
  O^T *m O = 1%:M -> relative_law (fun n : int => O ^ n).
Proof.
move=> H m n; have [U V] := orthogonal_inverse H.
suff -> : (O ^ m)^T = O ^ (- m) by rewrite -[LHS]/(O ^ (- m) * O ^ n) -exprzDr // addrC.
by case: m => k; rewrite ?NegzE ?opprK -?exprnP -?exprnN -?exprVn ?V transposed_power ?trmxK // -V exprVn.
Qed.

(** Chapter 4: a family that begins at the identity is the powers of its first member, and this one is orthogonal.
    Claim: su19.general-solution, su6.def, thm-all-solutions
    Covers: the families with the identity at position zero, and so the correction of this claim; that the others are
    such a family beside zeros, in some orthonormal basis, is proved on the page. *)
Theorem solutions_are_powers (R : comUnitRingType) (d : nat) (F : int -> 'M[R]_d.+1) :
  relative_law F -> F 0 = 1%:M -> (F 1)^T *m F 1 = 1%:M /\ forall n, F n = F 1 ^ n.
Proof.
move=> H F0; have O1 : (F 1)^T *m F 1 = 1%:M by rewrite H subrr.
have [T M] := (law_is_two_laws F).1 H; have [U V] := orthogonal_inverse O1.
have P (k : nat) : F k = F 1 ^+ k.
  by elim: k => [|k IH]; [rewrite F0 expr0 | rewrite exprS -IH -[RHS]/(F 1 *m F k) M; congr F; rewrite -intS].
split=> // -[k|k]; first exact: P.
by rewrite NegzE -T P transposed_power -V exprVn.
Qed.

(** Chapter 4: the powers beside zeros, in an orthonormal basis: these families keep the law too.
    Claim: book.relative-normal-form, thm-all-solutions
    Covers: that each such family is a solution, with at least one coordinate that is kept; that there are no others is
    proved on the page. *)
Theorem powers_beside_zeros (R : comUnitRingType) (d e : nat) (O : 'M[R]_d.+1) (U : 'M[R]_(d.+1 + e)) :
  O^T *m O = 1%:M -> U^T *m U = 1%:M -> relative_law (fun n : int => U *m block_mx (O ^ n) 0 0 0 *m U^T).
Proof.
move=> H; apply: change_of_basis; apply: side_by_side; first exact: powers_are_solutions.
by move=> m n; rewrite mulmx0.
Qed.

(** Chapter 4: queries and keys may step by [M] and by the transpose of its inverse. If both are one family of
    invertible matrices, then [M] is orthogonal.
    Claim: book.relative-one-family *)
Theorem one_family_is_orthogonal (R : comUnitRingType) (d : nat) (M A : 'M[R]_d.+1) :
  M \is a GRing.unit -> A \is a GRing.unit ->
  (forall n : int, ((M ^ (- n))^T) * A = M ^ n * A) -> M^T *m M = 1%:M.
Proof.
move=> UM UA /(_ 1) /(mulIr UA); rewrite expr1z exprN1 => E.
by rewrite -[X in _ *m X]E -trmx_mul -[_ *m _]/(M^-1 * M) mulVr // trmx1.
Qed.

Print Assumptions powers_are_solutions.
Print Assumptions solutions_are_powers.
Print Assumptions powers_beside_zeros.
Print Assumptions one_family_is_orthogonal.
