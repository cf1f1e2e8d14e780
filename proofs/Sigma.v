(** * Complex-linear maps

    CRoPE makes its projections complex-linear. Chapter 11 splits a real matrix into the part that commutes with the
    quarter turn and the part that anticommutes with it, and reads the parts of one block in the basis of the four sigma
    matrices. Chapter 12 counts what is left. The numbers form a field, in which 2 is not
    zero where a theorem says so. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

(** A 2 by 2 matrix by its rows (p, q) and (r, s), and the four sigma matrices. *)
Definition block (R : ringType) (p q r s : R) : 'M[R]_(1 + 1) := block_mx p%:M q%:M r%:M s%:M.
Definition sigma (R : ringType) (i : 'I_4) : 'M[R]_(1 + 1) :=
  match val i with 0 => block 1 0 0 1 | 1 => block 0 1 1 0 | 2 => block 0 (- 1) 1 0 | _ => block 1 0 0 (- 1) end.

(** Multiplication by the imaginary unit, in the half layout: it turns all planes by a right angle. *)
Definition quarter_turn (R : ringType) (p : nat) : 'M[R]_(p + p) := block_mx 0 (- 1%:M) 1%:M 0.

(** The complex-linear matrices of [m] by [n] planes: those that commute with the quarter turn. *)
Definition commutator (R : fieldType) (m n : nat) (W : 'M[R]_(m + m, n + n)) : 'M[R]_(m + m, n + n) :=
  quarter_turn R m *m W - W *m quarter_turn R n.

Lemma commutator_is_linear (R : fieldType) (m n : nat) : linear (@commutator R m n).
Proof.
by move=> a U V; rewrite /commutator mulmxDr mulmxDl scalerBr -scalemxAr -scalemxAl opprD addrACA.
Qed.

Definition complex_linear (R : fieldType) (m n : nat) : {vspace 'M[R]_(m + m, n + n)} :=
  lker (linfun (Linear (@commutator_is_linear R m n))).

Definition all_matrices (R : fieldType) (m n : nat) : {vspace 'M[R]_(m + m, n + n)} := fullv.

Lemma complex_linearP (R : fieldType) (m n : nat) (W : 'M[R]_(m + m, n + n)) :
  reflect (quarter_turn R m *m W = W *m quarter_turn R n) (W \in complex_linear R m n).
Proof. by rewrite memv_ker lfunE /= subr_eq0; apply: eqP. Qed.

Lemma commutes_with_quarter_turn (R : fieldType) (m n : nat) (A B C D : 'M[R]_(m, n)) :
  quarter_turn R m *m block_mx A C B D = block_mx A C B D *m quarter_turn R n <-> D = A /\ C = - B.
Proof.
rewrite /quarter_turn !mulmx_block !(mul0mx, mulmx0, mulmxN, mulNmx, mul1mx, mulmx1, add0r, addr0); split.
  by case/eq_block_mx => <- _ -> _.
by case=> -> ->.
Qed.

Lemma block_inj (R : ringType) (p q r s p' q' r' s' : R) :
  block p q r s = block p' q' r' s' <-> [/\ p = p', q = q', r = r' & s = s'].
Proof.
split=> [/eq_block_mx [] | [-> -> -> ->] //].
by do 4![move=> /matrixP /(_ 0 0); rewrite !mxE /= !mulr1n => ->].
Qed.

Lemma block_of_sigma (R : fieldType) (a b c d : R) :
  a *: sigma R 0 + b *: sigma R 1 + c *: sigma R 2 + d *: sigma R 3 = block (a + d) (b - c) (b + c) (a - d).
Proof.
rewrite /sigma /block !scale_block_mx !add_block_mx !scale_scalar_mx -!raddfD /=.
by rewrite !(mulr0, mulr1, mulrN1, add0r, addr0).
Qed.

Lemma half_of_sum (R : fieldType) (x y : R) : (2%:R : R) != 0 ->
  (x + y + (x - y)) / 2%:R = x /\ (x + y - (x - y)) / 2%:R = y.
Proof.
move=> two; rewrite addrACA subrr addr0 opprB [x + y]addrC addrACA subrr addr0.
by rewrite -!mulr2n -(mulr_natr x) -(mulr_natr y) !mulfK.
Qed.

(** Chapter 11: every 2 by 2 matrix is in exactly one way a combination of the four, with these coefficients.
    Claim: crope.sigma.basis *)
Theorem sigma_is_a_basis (R : fieldType) (p q r s a b c d : R) : (2%:R : R) != 0 ->
  block p q r s = a *: sigma R 0 + b *: sigma R 1 + c *: sigma R 2 + d *: sigma R 3 <->
  [/\ a = (p + s) / 2%:R, b = (r + q) / 2%:R, c = (r - q) / 2%:R & d = (p - s) / 2%:R].
Proof.
move=> two; rewrite block_of_sigma block_inj; split=> [[-> -> -> ->] | [-> -> -> ->]].
  by have [[-> ->] [-> ->]] := (half_of_sum a d two, half_of_sum b c two).
by rewrite -!mulrDl -!mulrBl; have [[-> ->] [-> ->]] := (half_of_sum p s two, half_of_sum r q two).
Qed.

(** Chapter 11: a block is complex-linear if and only if it uses [sigma 0] and [sigma 2] alone.
    Claim: crope.sigma.span, book.commutes-in-plane
    Covers: one block, and the commuting with the quarter turn, which is one of the rotations. *)
Theorem complex_linear_block (R : fieldType) (p q r s : R) :
  block p q r s \in complex_linear R 1 1 <-> exists a c : R, block p q r s = a *: sigma R 0 + c *: sigma R 2.
Proof.
rewrite -(rwP (complex_linearP _)) commutes_with_quarter_turn -raddfN /=; split.
  case=> /matrixP /(_ 0 0) + /matrixP /(_ 0 0); rewrite !mxE /= !mulr1n => -> ->; exists p, r.
  move: (block_of_sigma p 0 r 0); rewrite !scale0r !addr0 => ->.
  by rewrite sub0r add0r subr0.
case=> a [c]; move: (block_of_sigma a 0 c 0); rewrite !scale0r !addr0 => -> /block_inj [-> -> -> ->].
by rewrite sub0r add0r subr0.
Qed.

(** Chapter 11: in any size a matrix is complex-linear if and only if its planes have the form of [A + iB].
    Claim: crope.eq30-structure, book.commutes-with-j
    Covers: any number of planes, in the half layout; the paper's matrix has its planes interleaved and acts on rows. *)
Theorem complex_linear_form (R : fieldType) (m n : nat) (W : 'M[R]_(m + m, n + n)) :
  W \in complex_linear R m n <-> exists A B : 'M[R]_(m, n), W = block_mx A (- B) B A.
Proof.
split=> [/complex_linearP|[A [B ->]]]; last by apply/complex_linearP/commutes_with_quarter_turn.
rewrite -[W]submxK => /commutes_with_quarter_turn [E E'].
by exists (ulsubmx W), (dlsubmx W); rewrite E E'.
Qed.

(** Chapter 11: every matrix is in exactly one way the sum of a complex-linear and a conjugate-linear one. [J] and [J']
    are any two matrices whose squares are minus the identity, so both layouts are meant.
    Claim: book.split, thm-two-halves *)
Theorem two_halves (R : fieldType) (m n : nat) (J : 'M[R]_m) (J' : 'M[R]_n) (W : 'M[R]_(m, n)) :
  (2%:R : R) != 0 -> J *m J = - 1%:M -> J' *m J' = - 1%:M ->
  let half x := 2%:R^-1 *: x in
  forall U V, (W = U + V /\ J *m U = U *m J' /\ J *m V = - (V *m J')) <->
    (U = half (W - J *m W *m J') /\ V = half (W + J *m W *m J')).
Proof.
move=> two JJ JJ' half U V.
have double (X : 'M[R]_(m, n)) : half (X + X) = X.
  by rewrite /half -mulr2n -scaler_nat scalerA mulVf // scale1r.
split=> [[-> [EU EV]] | [-> ->]].
  have E : J *m (U + V) *m J' = - U + V.
    by rewrite mulmxDr mulmxDl EU EV mulNmx -!mulmxA JJ' !mulmxN !mulmx1 opprK.
  have P : U + V - (- U + V) = U + U by rewrite opprD opprK addrACA subrr addr0.
  have M : U + V + (- U + V) = V + V by rewrite addrACA subrr add0r.
  by rewrite E P M !double.
have D : W - J *m W *m J' + (W + J *m W *m J') = W + W by rewrite addrACA addNr addr0.
split; first by rewrite -{1}[W]double /half -D scalerDr.
have L (X : 'M[R]_(m, n)) : J *m half X = half (J *m X) /\ half X *m J' = half (X *m J').
  by rewrite /half -scalemxAr -scalemxAl.
have A : J *m (J *m W *m J') = - (W *m J') by rewrite !mulmxA JJ !mulNmx mul1mx.
have B : J *m W *m J' *m J' = - (J *m W) by rewrite -mulmxA JJ' mulmxN mulmx1.
split; rewrite !(L _).1 !(L _).2 /half -?scalerN mulmxDr mulmxDl ?mulmxN ?mulNmx A B ?opprK; congr (_ *: _).
  by rewrite addrC.
by rewrite opprB.
Qed.

(** Chapter 12: the complex-linear matrices have half of the dimension.
    Claim: crope.half-params, crope.eq30-count
    Covers: any number of planes at both ends, in the half layout. *)
Theorem half_of_the_parameters (R : fieldType) (m n : nat) :
  (2 * \dim (complex_linear R m n) = \dim (all_matrices R m n))%N.
Proof.
pose f (X : 'M[R]_(m, n) * 'M[R]_(m, n)) : 'M[R]_(m + m, n + n) := block_mx X.1 (- X.2) X.2 X.1.
have lin : linear f.
  by move=> a X Y; rewrite /f scale_block_mx add_block_mx /= opprD scalerN.
pose g := linfun (Linear lin).
have inj : lker g == 0%VS.
  by apply/lker0P=> -[A B] [C D]; rewrite !lfunE /= /f => /eq_block_mx [/= -> _ -> _].
have -> : complex_linear R m n = limg g.
  apply/vspaceP=> W; apply/idP/idP=> [/complex_linear_form [A [B ->]] | /memv_imgP [[A B] _ ->]].
    by apply/memv_imgP; exists (A, B); rewrite ?memvf // lfunE.
  by apply/complex_linear_form; exists A, B; rewrite lfunE.
rewrite limg_dim_eq ?dimvf /=; last by rewrite capfv; apply/eqP.
by rewrite -[Vector.dim _]/(m * n + m * n)%N -[Vector.dim _]/((m + m) * (n + n))%N !addnn -!mul2n [in RHS]mulnACA mulnA.
Qed.

(** Chapter 12: complex-linear weights for queries, keys and values, and a whole matrix for the output, save three
    eighths of the attention; beside a feed-forward layer of ratio 4, which has twice as much, one eighth.
    Claim: crope.savings.qkvo, crope.savings.block
    Covers: a stream and a head of [n] planes each, without biases and norms. *)
Theorem savings (R : fieldType) (n : nat) :
  let whole := \dim (all_matrices R n n) in let complex := \dim (complex_linear R n n) in
  let saved := (4 * whole - (3 * complex + whole))%N in
  (8 * saved = 3 * (4 * whole))%N /\ (8 * saved = 4 * whole + 8 * whole)%N.
Proof.
move=> whole complex saved; have E : whole = (2 * complex)%N by rewrite half_of_the_parameters.
have -> : saved = (3 * complex)%N by rewrite /saved E mulnA -mulnDl -mulnBl.
by rewrite E !mulnA -mulnDl.
Qed.

Lemma quarter_turn_square (R : fieldType) (n : nat) : quarter_turn R n *m quarter_turn R n = - 1%:M.
Proof.
rewrite /quarter_turn mulmx_block !(mul0mx, mulmx0, mulmx1, mul1mx, add0r, addr0).
by rewrite scalar_mx_block opp_block_mx !oppr0.
Qed.

(** Chapter 11: with complex-linear weights a common phase of both words changes no logit. [F] is the rotation of the
    offset, and the phase is the cosine [a] and the sine [b] of some angle.
    Claim: book.common-phase, thm-common-phase
    Covers: any number of planes, in the half layout. *)
Theorem common_phase (R : fieldType) (d n : nat) (Wq Wk : 'M[R]_(d + d, n + n)) (F : 'M[R]_(d + d)) (a b : R)
    (x y : 'cV[R]_(n + n)) :
  Wq \in complex_linear R d n -> Wk \in complex_linear R d n -> F \in complex_linear R d d -> a ^+ 2 + b ^+ 2 = 1 ->
  let phase := a%:M + b *: quarter_turn R n in
  (Wq *m (phase *m x))^T *m F *m (Wk *m (phase *m y)) = (Wq *m x)^T *m F *m (Wk *m y).
Proof.
move=> /complex_linearP Q /complex_linearP K /complex_linearP C one phase.
pose P : 'M[R]_(d + d) := a%:M + b *: quarter_turn R d.
have pass (W : 'M[R]_(d + d, n + n)) z : quarter_turn R d *m W = W *m quarter_turn R n ->
    W *m (phase *m z) = P *m (W *m z).
  move=> E; rewrite !mulmxA; congr (_ *m z).
  by rewrite mulmxDr mulmxDl mul_mx_scalar mul_scalar_mx -scalemxAr -scalemxAl E.
have turn_back : P^T *m P = 1%:M.
  have J : (quarter_turn R d)^T = - quarter_turn R d.
    by rewrite /quarter_turn tr_block_mx opp_block_mx !raddf0 raddfN /= trmx1 opprK.
  have E : P^T = a%:M - b *: quarter_turn R d by rewrite /P [LHS]raddfD /= tr_scalar_mx linearZ /= J scalerN.
  rewrite E /P mulmxDr !mulmxBl !mul_scalar_mx mul_mx_scalar -scalemxAr -scalemxAl quarter_turn_square.
  rewrite addrA subrK !scalerN opprK.
  by rewrite -[a%:M]scalemx1 !scalerA -scalerDl -!expr2 one scale1r.
have PF : F *m P = P *m F by rewrite mulmxDr mulmxDl mul_mx_scalar mul_scalar_mx -scalemxAr -scalemxAl C.
by rewrite !pass // trmx_mul -!mulmxA (mulmxA F P) PF -!mulmxA (mulmxA P^T P) turn_back mul1mx.
Qed.

(** Chapter 11: so complex-linear weights cannot make every logit. In one plane the mirror [sigma 3] between two words
    is out of reach, however wide the head is and whatever the offset.
    Claim: crope.eq13-not-equivalent *)
Theorem a_mirror_is_out_of_reach (R : fieldType) (d : nat) (Wq Wk : 'M[R]_(d + d, 1 + 1)) (F : 'M[R]_(d + d)) :
  (2%:R : R) != 0 -> Wq \in complex_linear R d 1 -> Wk \in complex_linear R d 1 -> F \in complex_linear R d d ->
  ~ (forall x y : 'cV[R]_(1 + 1), (Wq *m x)^T *m F *m (Wk *m y) = x^T *m sigma R 3 *m y).
Proof.
move=> two Q K C H; pose x : 'cV[R]_(1 + 1) := col_mx 1%:M 0.
have J : (0%:M + 1 *: quarter_turn R 1) *m x = col_mx 0 1%:M.
  by rewrite scale1r raddf0 add0r /quarter_turn mul_block_col !(mul0mx, mulmx0, mulmx1, add0r, addr0).
have one : (0 : R) ^+ 2 + 1 ^+ 2 = 1 by rewrite expr0n expr1n add0r.
have := common_phase x x Q K C one; rewrite /= J !H /sigma /= /block /x.
rewrite !tr_col_mx !trmx0 !trmx1 !mul_row_block !mul_row_col !(mul0mx, mulmx0, mul1mx, mulmx1, add0r, addr0).
move=> /matrixP /(_ 0 0); rewrite !mxE /= !mulr1n => /eqP.
by rewrite eq_sym -subr_eq0 opprK -mulr2n (negPf two).
Qed.

Print Assumptions sigma_is_a_basis.
Print Assumptions complex_linear_block.
Print Assumptions complex_linear_form.
Print Assumptions two_halves.
Print Assumptions half_of_the_parameters.
Print Assumptions savings.
Print Assumptions common_phase.
Print Assumptions a_mirror_is_out_of_reach.
