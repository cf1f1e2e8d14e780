from . import (
    atlas_table as atlas_table,
    controls as controls,
    family_table as family_table,
    figures as figures,
    plots as plots,
    style as style,
    svg as svg,
    tables as tables,
    widgets as widgets,
)
from .atlas_table import AtlasTable as AtlasTable
from .controls import play as play
from .family_table import FamilyTable as FamilyTable
from .tables import (
    Table as Table,
    card_table as card_table,
    findings_table as findings_table,
    means_table as means_table,
    settings_table as settings_table,
)
