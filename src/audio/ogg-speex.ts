import { open } from 'node:fs/promises';

/** The first page of an Ogg file begins with this, and holds the header of its first stream (RFC 3533, section 6). */
const pageMark = 'OggS';
const speexMark = 'Speex   ';
const pageHeaderBytes = 28;

/** Whether the file is Ogg and its first stream is Speex. */
export async function isOggSpeex(path: string): Promise<boolean> {
  await using file = await open(path);
  const bytes = Buffer.alloc(pageHeaderBytes + speexMark.length);
  await file.read(bytes, 0, bytes.length, 0);
  const beginning = bytes.toString('latin1');
  return beginning.startsWith(pageMark) && beginning.endsWith(speexMark);
}
