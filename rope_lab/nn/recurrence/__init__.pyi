from . import compiled as compiled, forms as forms, rates as rates, running_sums as running_sums
from .forms import decay_scan as decay_scan, linear_rnn as linear_rnn
