from . import figures as figures, style as style, svg as svg, tables as tables, widgets as widgets
from .tables import (
    Table as Table,
    card_table as card_table,
    means_table as means_table,
    settings_table as settings_table,
)
