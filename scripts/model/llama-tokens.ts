/** The vocabulary of Llama, which Moonshine shares, as sherpa-onnx reads it. */
import { Refusal } from '../terminal/refusal.ts';

/** Moonshine's own, after those of Llama. */
const moreTokens = Array.from({ length: 768 }, (_, index) => `<<ST_${index}>>`);

const byte = /^<0x([0-9A-F]{2})>$/;

/**
 * @param program the text of `llama-tokenizer.js`, which is read and not run
 * @returns a line for each token: its bytes as base64, and its number
 */
export function llamaTokens(program: string): string {
  const packed = /^const llama_vocab_base64 = "([\w+/=]+)"/m.exec(program)?.[1];
  if (packed === undefined) throw new Refusal('llama-tokenizer.js holds no vocabulary. Nothing was installed.');
  const tokens = [...Buffer.from(packed, 'base64').toString('utf8').split('\n'), ...moreTokens];
  return tokens.map((token, index) => `${bytesOf(token).toString('base64')} ${index}\n`).join('');
}

function bytesOf(token: string): Buffer {
  const value = byte.exec(token)?.[1];
  return value === undefined ? Buffer.from(token, 'utf8') : Buffer.from(value, 'hex');
}
