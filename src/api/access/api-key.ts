/**
 * API keys: `tsk_`, 32 random base62 characters and 6 of checksum. A damaged key is refused without asking the
 * database.
 */
import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefix = 'tsk_';
const shape = /^tsk_[0-9A-Za-z]{38}$/;

export function newApiKey(): string {
  let body = prefix;
  for (let i = 0; i < 32; i += 1) body += alphabet[randomInt(alphabet.length)];
  return body + checksum(body);
}

export function isWellFormedApiKey(text: string): boolean {
  return shape.test(text) && checksum(text.slice(0, -6)) === text.slice(-6);
}

/** The hash that is stored of a key. The key can't be found from it. */
export function digestOf(apiKey: string): Buffer {
  return hash('sha256', apiKey, 'buffer');
}

/** What support sees of a key in lists. */
export function displayOf(apiKey: string): { prefix: string; last_four: string } {
  return { prefix: apiKey.slice(0, prefix.length + 6), last_four: apiKey.slice(-4) };
}

/** CRC-32 in base62, 6 characters. */
function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let i = 0; i < 6; i += 1) {
    text = alphabet[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}
