/** The contract's sample in TypeScript where a proxy asks for patience. `./scripts/conformance` runs all samples on a service. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { contract } from '../../../src/api/contract/document.ts';
import { serve } from '../../support/serve.ts';
import { useFolder } from '../../support/use-folder.ts';
import { startScript } from '../run-script.ts';

interface Sample {
  lang: string;
  source: string;
}

const folder = useFolder();
const program = join(folder, 'sample.mts');
beforeAll(async () => {
  const samples = contract['paths']!['/transcriptions']!['post']!['x-codeSamples'] as unknown as Sample[];
  await writeFile(program, samples.find(({ lang }) => lang === 'TypeScript')!.source);
  await writeFile(join(folder, 'meeting.wav'), 'a recording');
});

/** A service behind a proxy that refuses once. @param after in `Retry-After` */
async function askedBySample(after: string) {
  const asked: string[] = [];
  const { url } = await serve((req, res) => {
    asked.push(req.method!);
    const isFirst = asked.length === 1;
    if (isFirst) res.setHeader('Retry-After', after).statusCode = 503;
    const transcript = { status: 'completed', segments: [{ text: 'hello' }] };
    req.resume().on('end', () => res.end(isFirst ? '' : JSON.stringify({ sessionId: 'x', ...transcript })));
  });
  const inFolder = ['bash', '-c', `cd '${folder}' && exec '${process.execPath}' "$0"`];
  return { ...(await startScript([program], { API: url, KEY: 'k' }, inFolder).ended), asked };
}

test.each([
  ['seconds', () => '1'],
  ['a date', () => new Date(Date.now() + 2_000).toUTCString()],
  ['nothing that is known', () => 'soon'],
])('Retry-After as %s → waited for, then asked again', async (_, after) => {
  expect(await askedBySample(after())).toMatchObject({ code: 0, stdout: 'hello\n', asked: ['POST', 'POST', 'GET'] });
});

test('Retry-After of a month → said at once, and asked no more', async () => {
  const { code, stderr, asked } = await askedBySample('2592000');
  expect({ code, stderr, asked }).toEqual({
    code: 1,
    stderr: expect.stringContaining('503: no answer'),
    asked: ['POST'],
  });
});
