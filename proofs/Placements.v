(** * The sixteen placements

    Queries, keys, values and outputs may each turn with their positions or not: sixteen placements. Chapter 8 asks
    which of them are relative, so that no output changes when the whole text moves. One head of self-attention is
    written out here, with and without the causal mask. Softmax enters by two properties of the exponential alone: it
    is positive, and different logits have different exponentials. The scale of the logits is left out, as on the
    page: it can be counted to the query. *)
From mathcomp Require Import all_ssreflect all_algebra.
From RopeLab Require Import Relative.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** Which of query, key, value and output turn. *)
Record placement := Placement { on_q : bool; on_k : bool; on_v : bool; on_o : bool }.

(** The matrix of a role: its position's member of the family if the role turns, the identity otherwise. *)
Definition turn (R : comRingType) (d : nat) (F : int -> 'M[R]_d) (on : bool) (n : int) : 'M[R]_d :=
  if on then F n else 1%:M.

(** The logit of query [i] and key [j], and the sum of a row over the keys that are seen. *)
Definition logit (R : comRingType) (d T : nat) (F : int -> 'M[R]_d) (p : placement) (at_ : 'I_T -> int)
    (q k : 'I_T -> 'cV[R]_d) (i j : 'I_T) : R :=
  ((turn F (on_q p) (at_ i) *m q i)^T *m (turn F (on_k p) (at_ j) *m k j)) 0 0.
Definition seen (T : nat) (causal : bool) (at_ : 'I_T -> int) (i j : 'I_T) : bool := causal ==> (at_ j <= at_ i).
Definition weight (R : fieldType) (T : nat) (e : R -> R) (sees : rel 'I_T) (s : 'I_T -> 'I_T -> R) (i j : 'I_T) : R :=
  e (s i j) / \sum_(l | sees i l) e (s i l).

(** The output of token [i]: the mixture of the values, turned back by the query's position. *)
Definition attention (R : fieldType) (d T : nat) (e : R -> R) (F : int -> 'M[R]_d) (causal : bool) (p : placement)
    (at_ : 'I_T -> int) (q k v : 'I_T -> 'cV[R]_d) (i : 'I_T) : 'cV[R]_d :=
  (turn F (on_o p) (at_ i))^T *m
    (\sum_(j | seen causal at_ i j)
      weight e (seen causal at_) (logit F p at_ q k) i j *: (turn F (on_v p) (at_ j) *m v j)).

(** No output of any text changes when all positions move by the same number. *)
Definition relative (R : fieldType) (d : nat) (e : R -> R) (F : int -> 'M[R]_d) (causal : bool) (p : placement) :
    Prop :=
  forall (T : nat) (at_ : 'I_T -> int) (q k v : 'I_T -> 'cV[R]_d) (i : 'I_T) (s : int),
    attention e F causal p (fun j => at_ j + s) q k v i = attention e F causal p at_ q k v i.

Definition sixteen : seq placement :=
  let both := [:: false; true] in
  let pairs := [seq (x, y) | x <- both, y <- both] in
  [seq Placement qk.1 qk.2 vo.1 vo.2 | qk <- pairs, vo <- pairs].

Lemma pair_law (R : comRingType) (d : nat) (F : int -> 'M[R]_d) (on : bool) (m n s : int) :
  relative_law F -> (turn F on (m + s))^T *m turn F on (n + s) = (turn F on m)^T *m turn F on n.
Proof. by case: on => //= H; rewrite !H opprD addrACA subrr addr0. Qed.

Lemma lone_turn (R : comRingType) (d : nat) (F : int -> 'M[R]_d) (a b : bool) (m n : int) :
  (forall s, (turn F a (m + s))^T *m turn F b (n + s) = (turn F a m)^T *m turn F b n) -> a != b -> F 1 = F 0.
Proof.
case: a b => [] [] //= H _.
  by apply: trmx_inj; move: (H (- m)) (H (1 - m)); rewrite (addrCA m) !subrr addr0 !mulmx1 => -> ->.
by move: (H (- n)) (H (1 - n)); rewrite (addrCA n) !subrr addr0 trmx1 !mul1mx => -> ->.
Qed.

Lemma turn_back (R : comUnitRingType) (d : nat) (F : int -> 'M[R]_d) (on : bool) (n : int) : relative_law F ->
  F 0 = 1%:M -> (turn F on n)^T *m turn F on n = 1%:M /\ turn F on n *m (turn F on n)^T = 1%:M.
Proof.
move=> H F0; case: on => /=; last by rewrite trmx1 mulmx1.
by have [_ _ _ N] := position_zero H; rewrite (N n).1 (N n).2.
Qed.

Lemma same_matrix (R : ringType) (m n : nat) (A B : 'M[R]_(m, n)) :
  (forall (x : 'cV_m) (y : 'cV_n), (x^T *m A *m y) 0 0 = (x^T *m B *m y) 0 0) -> A = B.
Proof.
move=> H; apply/matrixP=> i j; move: (H (delta_mx i 0) (delta_mx j 0)).
by rewrite trmx_delta -!rowE -!colE !mxE.
Qed.

Lemma logitE (R : comRingType) (d T : nat) (F : int -> 'M[R]_d) (p : placement) (at_ : 'I_T -> int)
    (q k : 'I_T -> 'cV[R]_d) (i j : 'I_T) :
  logit F p at_ q k i j = ((q i)^T *m ((turn F (on_q p) (at_ i))^T *m turn F (on_k p) (at_ j)) *m k j) 0 0.
Proof. by rewrite /logit trmx_mul !mulmxA. Qed.

Lemma attentionE (R : fieldType) (d T : nat) (e : R -> R) (F : int -> 'M[R]_d) (causal : bool) (p : placement)
    (at_ : 'I_T -> int) (q k v : 'I_T -> 'cV[R]_d) (i : 'I_T) :
  attention e F causal p at_ q k v i = \sum_(j | seen causal at_ i j)
    weight e (seen causal at_) (logit F p at_ q k) i j *:
      ((turn F (on_o p) (at_ i))^T *m turn F (on_v p) (at_ j) *m v j).
Proof. by rewrite /attention mulmx_sumr; apply: eq_bigr => j _; rewrite -scalemxAr mulmxA. Qed.

(** A token that attends to itself alone. *)
Lemma one_token (R : realFieldType) (d : nat) (e : R -> R) (F : int -> 'M[R]_d) (causal : bool) (p : placement)
    (at_ : 'I_1 -> int) (q k v : 'I_1 -> 'cV[R]_d) : (forall x, 0 < e x) ->
  attention e F causal p at_ q k v 0 = (turn F (on_o p) (at_ 0))^T *m turn F (on_v p) (at_ 0) *m v 0.
Proof.
move=> e0; have see : seen causal at_ 0 0 by rewrite /seen lexx implybT.
by rewrite attentionE big_mkcond big_ord1 see /weight big_mkcond big_ord1 see divff ?scale1r // gt_eqF.
Qed.

(** Two tokens, the later one with a key and a value of zero. *)
Definition first_only (V : zmodType) (x : V) (j : 'I_2) : V := if j == 0 then x else 0.
Lemma two_tokens (R : realFieldType) (d : nat) (e : R -> R) (F : int -> 'M[R]_d) (causal : bool) (p : placement)
    (at_ : 'I_2 -> int) (x y w : 'cV[R]_d) : at_ 0 <= at_ 1 ->
  attention e F causal p at_ (fun=> x) (first_only y) (first_only w) 1 =
    let z := (x^T *m ((turn F (on_q p) (at_ 1))^T *m turn F (on_k p) (at_ 0)) *m y) 0 0 in
    (e z / (e z + e 0)) *: ((turn F (on_o p) (at_ 1))^T *m turn F (on_v p) (at_ 0) *m w).
Proof.
move=> le; have see j : seen causal at_ 1 j.
  by rewrite /seen; case: j => -[|[|//]] lt; rewrite ?implybT //; [apply/implyP=> _; rewrite (_ : Ordinal lt = 0) //;
    apply/val_inj | rewrite (_ : Ordinal lt = 1) ?lexx ?implybT //; apply/val_inj].
rewrite attentionE (eq_bigl _ _ see) /weight (eq_bigl _ _ see) !big_ord_recl !big_ord0 !addr0.
have Z : (0 : 'M[R]_1) 0 0 = 0 by rewrite mxE.
by rewrite !logitE /first_only /= !mulmx0 Z scaler0 addr0.
Qed.

Lemma same_share (R : realFieldType) (e : R -> R) (z z' : R) : (forall x, 0 < e x) -> injective e ->
  e z / (e z + e 0) = e z' / (e z' + e 0) -> z = z'.
Proof.
move=> e0 inj /eqP; rewrite eqr_div ?lt0r_neq0 ?addr_gt0 // !mulrDr [e z' * e z]mulrC => /eqP /addrI.
by move=> /mulIf E; apply/inj/E; rewrite gt_eqF.
Qed.

(** Chapter 8: let one step turn something. A placement is relative if and only if queries and keys are treated alike,
    and values and outputs are treated alike; with the causal mask, and without it.
    Claim: book.four-of-sixteen, thm-four-of-sixteen
    Covers: any family that keeps the relative law and begins at the identity, and any positive function that tells
    logits apart in the place of the exponential; for the rotations of real numbers Reals.v says it again. *)
Theorem which_placements_are_relative (R : realFieldType) (d : nat) (e : R -> R) (F : int -> 'M[R]_d) (causal : bool)
    (p : placement) :
  (forall x, 0 < e x) -> injective e -> relative_law F -> F 0 = 1%:M -> F 1 <> 1%:M ->
  relative e F causal p <-> on_q p = on_k p /\ on_v p = on_o p.
Proof.
move=> e0 inj H F0 F1; split=> [rel|[qk vo] T at_ q k v i s]; last first.
  rewrite !attentionE; apply: eq_big => [j|j _]; first by rewrite /seen ler_add2r.
  rewrite vo pair_law // /weight !logitE qk pair_law //; congr (_ / _ *: _).
  by apply: eq_big => [l|l _]; rewrite /seen ?ler_add2r // !logitE qk pair_law.
have differ : F 1 <> F 0 by rewrite F0.
have vo : on_v p = on_o p.
  apply/esym/eqP; apply: contra_notT differ; apply: (@lone_turn _ _ F _ _ 0 0) => s.
  apply: same_matrix => x y; rewrite -!mulmxA; congr ((_ *m _) 0 0).
  by move: (rel 1%N (fun=> 0) (fun=> 0) (fun=> 0) (fun=> y) 0 s); rewrite !one_token // -!mulmxA.
split=> //; apply/eqP; apply: contra_notT differ.
have [i _] : exists i : 'I_d, true.
  case: d F H F0 F1 {rel} => [|d] F _ F0; [case | by exists 0].
  by rewrite [F 1]thinmx0 [1%:M]thinmx0.
apply: (@lone_turn _ _ F _ _ 1 0) => s; apply: same_matrix => x y.
pose w : 'cV_d := (turn F (on_o p) 0)^T *m turn F (on_o p) 1 *m delta_mx i 0.
pose at_ (j : 'I_2) : int := if j == 0 then 0 else 1.
have le : at_ 0 <= at_ 1 by [].
have back : (turn F (on_o p) (at_ 1))^T *m turn F (on_o p) (at_ 0) *m w = delta_mx i 0.
  rewrite /w -!mulmxA (mulmxA (turn F _ 0)) (turn_back (on_o p) 0 H F0).2 mul1mx mulmxA.
  by rewrite (turn_back (on_o p) 1 H F0).1 mul1mx.
move: (rel 2%N at_ (fun=> x) (first_only y) (first_only w) 1 s).
rewrite !two_tokens ?ler_add2r //= vo pair_law // back => /matrixP /(_ i 0).
by rewrite !mxE !eqxx !mulr1; apply: same_share.
Qed.

(** Chapter 8: if queries and keys are treated alike, a shift of the text turns an output and does nothing else, where
    the values turn alone; where the output turns alone it turns it the other way.
    Claim: book.vo-frame, su19.v-absolute
    Covers: the effect of a shift, by any family that keeps the relative law and begins at the identity. *)
Theorem a_lone_value_turns_the_frame (R : realFieldType) (d : nat) (e : R -> R) (F : int -> 'M[R]_d) (causal : bool)
    (qk : bool) (T : nat) (at_ : 'I_T -> int) (q k v : 'I_T -> 'cV[R]_d) (i : 'I_T) (s : int) :
  relative_law F -> F 0 = 1%:M ->
  let moved p := attention e F causal p (fun j => at_ j + s) q k v i in
  let still p := attention e F causal p at_ q k v i in
  moved (Placement qk qk true false) = F s *m still (Placement qk qk true false) /\
  moved (Placement qk qk false true) = (F s)^T *m still (Placement qk qk false true).
Proof.
move=> H F0 moved still; have [T_ M] := (law_is_two_laws F).1 H.
have W p j : on_q p = on_k p -> weight e (seen causal (fun j => at_ j + s)) (logit F p (fun j => at_ j + s) q k) i j =
    weight e (seen causal at_) (logit F p at_ q k) i j.
  move=> E; rewrite /weight !logitE E pair_law //; congr (_ / _).
  by apply: eq_big => [l|l _]; rewrite /seen ?ler_add2r // !logitE E pair_law.
rewrite /moved /still !attentionE !mulmx_sumr; split; apply: eq_big => j; rewrite /seen ?ler_add2r // => _.
  by rewrite W // -scalemxAr /= trmx1 !mul1mx mulmxA M addrC.
by rewrite W // -scalemxAr /= !mulmx1 mulmxA !T_ M opprD addrC.
Qed.

(** Chapter 8: four of the sixteen treat them alike, and these are none, QK, VO and QKVO.
    Claim: book.four-of-sixteen, thm-four-of-sixteen
    Covers: the count; that these are the relative ones is the theorem above. *)
Theorem four_of_sixteen :
  size sixteen = 16%N /\ (forall p, exists2 i, (i < 16)%N & nth p sixteen i = p) /\
  [seq p <- sixteen | (on_q p == on_k p) && (on_v p == on_o p)] =
    [:: Placement false false false false; Placement false false true true;
        Placement true true false false; Placement true true true true].
Proof.
split=> //; split=> // -[q k v o].
by exists (8 * q + 4 * k + 2 * v + o)%N; case: q k v o => [] [] [] [].
Qed.

Print Assumptions which_placements_are_relative.
Print Assumptions a_lone_value_turns_the_frame.
Print Assumptions four_of_sixteen.
