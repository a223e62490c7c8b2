import { titleOf } from '../../../../handlers/createTranscription.ts';

test.each([
  ['Board meeting.mp3', 'Board meeting'],
  ['/home/me/Board meeting.mp3', 'Board meeting'],
  ['C:\\Users\\me\\talk.wav', 'talk'],
  ['../../etc/passwd', 'passwd'],
  ['archive.tar.gz', 'archive.tar'],
  ['no extension', 'no extension'],
  ['v1.2 final', 'v1.2 final'],
  ['Dr. Who', 'Dr. Who'],
  ['.mp3', 'Untitled'],
  ['', 'Untitled'],
  ['folder/', 'Untitled'],
  ['  spaces  .ogg', 'spaces'],
  ['Déjà vu 🎙.m4a', 'Déjà vu 🎙'],
  ['日本語.wav', '日本語'],
  ['a\u0000b\u0007\r\n\tc\u007f\u0085.mp3', 'abc'],
  ['\u202egpj.exe\u202c.mp3', 'gpj.exe'],
  ['lone \ud83d surrogate.mp3', 'lone \ufffd surrogate'],
])('%j → %j', (name, expected) => expect(titleOf(undefined, name)).toBe(expected));

test.each([
  ['letters', 'a'.repeat(300), 'a'.repeat(255)],
  ['characters beyond the BMP', '🎙'.repeat(300), '🎙'.repeat(255)],
  ['a space at the cut', `${'a'.repeat(254)} b`, 'a'.repeat(254)],
])('300 %s → 255 characters, none cut in two', (_, name, expected) =>
  expect(titleOf(undefined, `${name}.mp3`)).toBe(expected),
);

test.each([
  ['Board meeting', 'Board meeting'],
  ['  Call 4711.2  ', 'Call 4711.2'],
  ['\u202eexe.tpircs', 'exe.tpircs'],
  [' \u200e ', 'minutes'],
])('the title %j of the form → %j, whatever the file is called', (title, expected) => {
  expect(titleOf(title, 'minutes.mp3')).toBe(expected);
});
