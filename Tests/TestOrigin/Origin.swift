/// Placeholder of the loopback origin.
public struct Origin {}
