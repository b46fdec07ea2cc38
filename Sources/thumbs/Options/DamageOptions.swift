public import ArgumentParser
public import Thumbnailer

/// The treatment of truncated and damaged images.
struct DamageOptions: ParsableArguments {
  @Option(
    help: """
      What becomes of truncated and damaged pictures: accept shows what can be read of them, the rest in grey, and \
      reports say so.
      """)
  var damaged = DamagePolicy.refuse
}

extension DamagePolicy: ExpressibleByArgument {}
