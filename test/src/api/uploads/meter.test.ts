import { FileNamer } from '../../../../src/api/uploads/meter.ts';

const disposition = 'Content-Disposition: form-data; name="file"';
const named = `${disposition}; filename="."`;
/** A form whose first part is `durationMs`. */
const formWith = (head: string, content = 'audio --b\r\nname="file"') =>
  `--b\r\nContent-Disposition: form-data; name="durationMs"\r\n\r\n7\r\n--b\r\n${head}\r\n\r\n${content}\r\n--b--\r\n`;

function passed(namer: FileNamer, chunks: string[]): string {
  const out = chunks.map((chunk) => namer.pass(Buffer.from(chunk, 'latin1')));
  return Buffer.concat([...out, namer.rest()]).toString('latin1');
}

test.each<[string, string, string]>([
  ['no name', disposition, named],
  ['an empty one', `${disposition}; filename=""`, named],
  ['an empty one without quotes', `${disposition}; filename=`, named],
  [
    'an unquoted field name',
    'content-disposition:form-data;name=file',
    'content-disposition:form-data;name=file; filename="."',
  ],
  ['a header before', `Content-Type: audio/wav\r\n${disposition}`, `Content-Type: audio/wav\r\n${named}`],
  ['a header behind', `${disposition}\r\nContent-Type: audio/wav`, `${named}\r\nContent-Type: audio/wav`],
  [
    'a header of two lines',
    'Content-Disposition: form-data;\r\n name="file"',
    'Content-Disposition: form-data;\r\n name="file"; filename="."',
  ],
])('a file with %s → a name, wherever the body is cut', (_, head, expected) => {
  const [body, whole] = [formWith(head), formWith(expected)];
  for (let cut = 0; cut <= body.length; cut += 1) {
    expect(passed(new FileNamer('b'), [body.slice(0, cut), body.slice(cut)])).toBe(whole);
  }
  expect(passed(new FileNamer('b'), [...body])).toBe(whole);
});

test.each<[string, string]>([
  ['a name', formWith(`${disposition}; filename="a.wav"`)],
  ['an encoded name', formWith(`${disposition}; filename*=UTF-8''a.wav`)],
  ['another field', formWith('Content-Disposition: form-data; name="files"')],
  ['a second file', formWith(`${disposition}; filename="a.wav"`, `x\r\n--b\r\n${disposition}\r\n\r\nx`)],
  ['no head that ends', `--b\r\n${disposition}`],
  ['an empty head', `--b\r\n\r\n${disposition}\r\n\r\nx`],
  ['no boundary', `${disposition}\r\n\r\nx`],
])('%s → every byte as it came', (_, body) => {
  expect(passed(new FileNamer('b'), [body])).toBe(body);
  expect(passed(new FileNamer('b'), [...body])).toBe(body);
});

test('a megabyte without a file → all of it, and what follows is passed on uncopied', () => {
  const namer = new FileNamer('b');
  const text = formWith('Content-Disposition: form-data; name="note"', 'x'.repeat(1024 * 1024));
  expect(passed(namer, [text.slice(0, 99), text.slice(99)])).toBe(text);
  const chunk = Buffer.from(`--b\r\n${disposition}\r\n\r\n`);
  expect(namer.pass(chunk)).toBe(chunk);
});
