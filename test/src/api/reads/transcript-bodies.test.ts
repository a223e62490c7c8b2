import { TranscriptBodies } from '../../../../src/api/reads/transcripts.ts';

const { signal } = new AbortController();
const held = () => signal;

/** Makes bodies when the test says so, and counts. */
function maker() {
  const opened = Promise.withResolvers<void>();
  let made = 0;
  const make = async () => {
    made += 1;
    await opened.promise;
    return `body ${made}`;
  };
  return { make, made: () => made, open: opened.resolve };
}

test('a thousand ask for the same transcript at once → it is read once, and all get the same', async () => {
  const bodies = new TranscriptBodies();
  const { make, made, open } = maker();
  const answers = Array.from({ length: 1_000 }, () => bodies.of('account', 'session', 'W/"1.json"', make, held));
  open();
  expect(new Set(await Promise.all(answers))).toEqual(new Set(['body 1']));
  expect(made()).toBe(1);
  expect(await bodies.of('account', 'session', 'W/"1.json"', make, held)).toBe('body 2');
});

test.each([
  ['account', ['another', 'session', 'W/"1.json"']],
  ['session', ['account', 'another', 'W/"1.json"']],
  ['version or format', ['account', 'session', 'W/"1.words"']],
] as const)('another %s at the same moment → a reading of its own', async (_, [account, session, tag]) => {
  const bodies = new TranscriptBodies();
  const one = bodies.of('account', 'session', 'W/"1.json"', async () => 'one', held);
  const other = bodies.of(account, session, tag, async () => 'other', held);
  expect(await Promise.all([one, other])).toEqual(['one', 'other']);
});

test.each([
  ['one account', 1, 5],
  ['many accounts', 20, 10],
])(
  'many transcripts of %s are asked for at once → few are read at once, all are answered',
  async (_, accounts, atOnce) => {
    const bodies = new TranscriptBodies();
    let running = 0;
    let most = 0;
    const make = async () => {
      most = Math.max(most, (running += 1));
      await new Promise(setImmediate);
      running -= 1;
      return 'body';
    };
    await Promise.all(
      Array.from({ length: 200 }, (_, i) => bodies.of(`account ${i % accounts}`, String(i), 'tag', make, held)),
    );
    expect(most).toBe(atOnce);
  },
);

test('a reading that fails → everybody who shares it is told, and the next one reads again', async () => {
  const bodies = new TranscriptBodies();
  const failing = Array.from({ length: 3 }, () =>
    bodies.of('account', 'session', 'tag', () => Promise.reject(new Error('gone')), held),
  );
  for (const answer of await Promise.allSettled(failing)) expect(answer.status).toBe('rejected');
  expect(await bodies.of('account', 'session', 'tag', async () => 'there again', held)).toBe('there again');
});

test('a long transcript that one is still being sent → the next gets the same; all have left → it is made again', async () => {
  const bodies = new TranscriptBodies();
  const long = 'x'.repeat(300_000);
  let made = 0;
  const make = async () => `${(made += 1)}${long}`;
  const [first, second] = [new AbortController(), new AbortController()];
  const read = async ({ signal }: { signal: AbortSignal }) =>
    (await bodies.of('account', 'session', 'tag', make, () => signal))[0];
  expect(await read(first)).toBe('1');
  expect(await read(second)).toBe('1');
  first.abort();
  expect(await read({ signal: AbortSignal.abort() })).toBe('1');
  second.abort();
  expect(await read({ signal: AbortSignal.abort() })).toBe('2');
  expect(await read({ signal: AbortSignal.abort() })).toBe('3');
});
