internal import ArgumentParser
import Thumbnailer
@main struct Thumbs: ParsableCommand { func run() { print("hi") } }
