/** `metainfo/browser`. */
export { BENCODE_CODES, type BencodeCode, BencodeError } from '../bencode/bencode-error.ts';
export { type Decoded, type DecodeOptions, decode, type Span } from '../bencode/decode.ts';
export { encode } from '../bencode/encode.ts';
export { DEFAULT_LIMITS, LimitError, type LimitName, type Limits } from '../bencode/limits.ts';
export { type BencodeMap, type BencodeValue, type Encodable, RawBencode } from '../bencode/value.ts';
export { TorrentCreate } from '../create/draft.ts';
export { edit } from '../edit/edit.ts';
export { AbortError } from '../errors/cancel.ts';
export { MerkleTree, MerkleTreeShape } from '../hashers/merkle-tree.ts';
export { formatMagnet, parseMagnet } from '../magnet/magnet.ts';
export { Torrent } from '../model/torrent/torrent.ts';
export { webEngine } from './web-engine.ts';
