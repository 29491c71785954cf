def export():pass
class Exported:pass
