public struct Origin {}
