(** * Attention as a recurrence

    If the weight of a value fades by the same factor with each step, the values are turned and the mixture is turned
    back, then the output can be made from the one before: chapter 10. Steps are counted from 1, and the state before
    the first is zero. *)
From mathcomp Require Import all_ssreflect all_algebra.
From RopeLab Require Import Relative.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

(** The state after step [t]: what is left of the one before, and a new value. *)
Fixpoint state (R : comRingType) (d : nat) (A : 'M[R]_d) (v : nat -> 'cV[R]_d) (t : nat) : 'cV[R]_d :=
  if t is t'.+1 then A *m state A v t' + v t else 0.
Fixpoint scalar_state (R : comRingType) (rate : R) (v : nat -> R) (t : nat) : R :=
  if t is t'.+1 then rate * scalar_state rate v t' + v t else 0.

(** Chapter 10: the recurrence of one coordinate is a sum of powers. With a complex rate this is one plane.
    Claim: su19.rnn-geometric
    Covers: any commutative ring in the place of the complex numbers, and any rate. *)
Theorem recurrence_is_a_sum (R : comRingType) (rate : R) (v : nat -> R) (t : nat) :
  scalar_state rate v t = \sum_(1 <= j < t.+1) rate ^+ (t - j) * v j.
Proof.
elim: t => [|t IH]; first by rewrite big_geq.
rewrite big_nat_recr //= subnn expr0 mul1r IH mulr_sumr; congr (_ + _).
by apply: eq_big_nat => j /andP[_ lt]; rewrite mulrA -exprS subSn.
Qed.

(** Chapter 10: values that turn, weights that fade and an output that turns back are a recurrence. [F] is the family of
    rotations on the whole numbers, and a step of the state is a fading turn by one step back.
    Claim: su19.rnn-special, su19.rnn-geometric
    Covers: any number of planes and any factor, from the relative law. *)
Theorem fading_attention_is_a_recurrence (R : comRingType) (d : nat) (F : int -> 'M[R]_d) (gamma : R)
    (v : nat -> 'cV[R]_d) (t : nat) : relative_law F -> F 0 = 1%:M ->
  let o := \sum_(1 <= j < t.+1) gamma ^+ (t - j) *: (F (j%:Z - t%:Z) *m v j) in
  (F t)^T *m (\sum_(1 <= j < t.+1) gamma ^+ (t - j) *: (F j *m v j)) = o /\ o = state (gamma *: (F 1)^T) v t.
Proof.
move=> H F0 o; have [T M] := (law_is_two_laws F).1 H.
split; first by rewrite mulmx_sumr; apply: eq_bigr => j _; rewrite -scalemxAr mulmxA H.
rewrite /o {o}; elim: t => [|t IH]; first by rewrite big_geq.
rewrite big_nat_recr //= subnn expr0 scale1r subrr F0 mul1mx -IH mulmx_sumr; congr (_ + _).
apply: eq_big_nat => j /andP[_ lt]; rewrite -scalemxAr -scalemxAl scalerA -exprSr subSn //.
by rewrite mulmxA T M intS opprD addrCA.
Qed.

(** Chapter 10: in a frame that turns along, the decay is real.
    Claim: book.decay-frame
    Covers: any number of planes, from the relative law. *)
Theorem decay_is_real_in_a_turning_frame (R : comRingType) (d : nat) (F : int -> 'M[R]_d) (gamma : R)
    (v : nat -> 'cV[R]_d) (t : nat) : relative_law F -> F 0 = 1%:M ->
  state (gamma *: (F 1)^T) v t = (F t)^T *m state gamma%:M (fun j => F j *m v j) t.
Proof.
move=> H F0; have [T M] := (law_is_two_laws F).1 H.
elim: t => [|t IH]; first by rewrite mulmx0.
rewrite /= IH mulmxDr [X in _ = _ + X]mulmxA H subrr F0 mul1mx mul_scalar_mx -scalemxAr -scalemxAl mulmxA !T M.
by congr (_ *: (F _ *m _) + _); rewrite -opprD -intS.
Qed.

(** Chapter 10: the ends of chunks of [K] steps obey the same recurrence with the [K]-th power of the rate.
    Claim: book.decay-chunks
    Covers: any rate in a commutative ring; [e] is what a chunk alone ends with. *)
Theorem chunks_carry_a_power (R : comRingType) (rate : R) (v : nat -> R) (t K : nat) :
  let e := scalar_state rate (fun j => v (t + j)%N) K in
  scalar_state rate v (t + K) = rate ^+ K * scalar_state rate v t + e.
Proof.
elim: K => [|K IH] /=; first by rewrite addn0 expr0 mul1r addr0.
by rewrite addnS /= IH mulrDr mulrA -exprS -addnS addrA.
Qed.

Print Assumptions recurrence_is_a_sum.
Print Assumptions fading_attention_is_a_recurrence.
Print Assumptions decay_is_real_in_a_turning_frame.
Print Assumptions chunks_carry_a_power.
