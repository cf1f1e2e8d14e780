from .core import Exercise as Exercise, Question as Question, Task as Task, exercise as exercise, load as load
from .reply import Reply as Reply
from .checking import check as check, solution as solution
from .scoring import Scores as Scores, scores as scores
