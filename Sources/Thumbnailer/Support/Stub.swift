import CCurl
import CVips
internal import GRDB
internal import Crypto
internal import DequeModule
internal import Logging
enum Probe { static let x = cvips_init("x"); static let v = curl_version_info(CURLVERSION_NOW) }
