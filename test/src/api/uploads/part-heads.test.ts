import { PartHeads } from '../../../../src/api/uploads/part-heads.ts';

const file = 'Content-Disposition: form-data; name="file"';
/** A form whose first part is `durationMs`. */
const formWith = (head: string, content = 'audio --b\r\n name="file"') =>
  `\r\n--b\r\nContent-Disposition: form-data; name="durationMs"\r\n\r\n7\r\n--b\r\n${head}\r\n\r\n${content}\r\n--b--\r\n`;

function passed(chunks: string[]): string {
  const heads = new PartHeads('b');
  const out = chunks.map((chunk) => heads.pass(Buffer.from(chunk, 'latin1')));
  return Buffer.concat([...out, heads.rest()]).toString('latin1');
}

/** However the body is cut. The line break before its first boundary is added. */
function expectPassed(body: string, expected: string): void {
  const sent = body.slice(2);
  for (let cut = 0; cut <= sent.length; cut += 1) expect(passed([sent.slice(0, cut), sent.slice(cut)])).toBe(expected);
  expect(passed([...sent])).toBe(expected);
}

/** The bytes of a text in UTF-8, as characters. */
const bytes = (text: string) => Buffer.from(text).toString('latin1');

test.each<[string, string, string]>([
  ['no name', file, '.'],
  ['an empty one', `${file}; filename=""`, '.'],
  ['an unquoted field name', 'content-disposition:form-data;name=file', '.'],
  ['a header of two lines', 'Content-Disposition: form-data;\r\n name="file"', '.'],
  ['a name without quotes, with spaces', `${file}; filename=my file (1).wav`, 'my file (1).wav'],
  ['a name that lacks its last quote', `${file}; filename="a b.wav`, 'a b.wav'],
  ['a name with quotes, as curl escapes them', `${file}; filename="say \\"hi\\".wav"`, 'say %22hi%22.wav'],
  ['a name with folders', `${file}; filename="C:\\fakepath\\a.wav"`, 'C:/fakepath/a.wav'],
  ['a name in UTF-8', `${file}; filename="${bytes('Übermorgen 会議.wav')}"`, bytes('Übermorgen 会議.wav')],
  ['a name in Latin-1', `${file}; filename="M\xfcller.wav"`, bytes('Müller.wav')],
  ['an encoded name beside another', `${file}; filename="x"; filename*=UTF-8''%C3%BC.wav`, bytes('ü.wav')],
  ['an encoded name that is damaged', `${file}; filename*=50%-%zz%20.wav`, '50%-%zz .wav'],
  ['a name in pieces', `${file}; filename*1*=%C3%BC; filename*0*=UTF-8''a%20; filename*2=".wav"`, bytes('a ü.wav')],
])('a file with %s → the name that it means, wherever the body is cut', (_, head, name) => {
  expectPassed(formWith(head), formWith(`${file}; filename="${name}"`));
});

test('headers around that of the file → as they were', () => {
  const head = (name: string) => `A: b\r\n${file}${name}\r\nContent-Type: audio/wav`;
  expectPassed(formWith(head('')), formWith(head('; filename="."')));
});

test('white space behind boundaries → taken away, before and after the file', () => {
  const head = `${file}; filename="a"`;
  const spaced = `\r\n--b \t\r\n${head}\r\n\r\nx\r\n--b  \r\nContent-Disposition: form-data; name="n"\r\n\r\ny\r\n--b--`;
  expectPassed(spaced, spaced.replaceAll(/--b[ \t]+/g, '--b'));
});

test.each<[string, string]>([
  ['a name as it is meant', formWith(`${file}; filename="a.wav"`)],
  ['no form-data', formWith('Content-Disposition: attachment; filename=a b')],
  ['a field without a name', formWith('Content-Disposition: form-data')],
  ['control characters', formWith(`${file}; filename=a b\0`)],
  ['no head that ends', `\r\n--b\r\n${file}`],
  ['an empty head', `\r\n--b\r\n\r\n${file}\r\n\r\nx`],
  ['what only begins like a boundary', formWith(`${file}; filename="a"`, `\r\n--bx\r\n${file}\r\n\r\n\r\n--b-\r\n`)],
  ['an epilogue', `${formWith(`${file}; filename="a"`)}\r\n--b\r\n${file}\r\n\r\n`],
  ['no boundary', `\r\n${file}\r\n\r\nx`],
])('%s → every byte as it came', (_, body) => expectPassed(body, body));

test('a head without end → passed on before it fills the memory; content → not copied', () => {
  const endless = `--b\r\nX: ${'y'.repeat(100_000)}`;
  const heads = new PartHeads('b');
  expect(heads.pass(Buffer.from(endless)).length).toBe(endless.length + 2);
  const others = new PartHeads('b');
  others.pass(Buffer.from(`--b\r\n${file}\r\n\r\n`));
  const chunk = Buffer.alloc(64 * 1024);
  expect(others.pass(chunk)).toBe(chunk);
});
