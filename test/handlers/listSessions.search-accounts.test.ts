/** Two accounts that store, erase and search never meet. `SEARCH_SEQUENCES=500` tries more, `SEARCH_SEED=…` others. */
import fc from 'fast-check';
import { eraseSession } from '../../src/sessions/support.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { saySession } from '../support/service/said.ts';
import { useService } from '../support/service/use-service.ts';

const service = await useService();
const sequences = Number(process.env['SEARCH_SEQUENCES'] ?? 8);
const seed = Number(process.env['SEARCH_SEED'] ?? 17);

const word = fc.constantFrom('alpha', 'beta', 'gamma', 'delta', '会議');
const who = fc.constantFrom(0, 1);
const step = fc.oneof(
  fc.record({ kind: fc.constant('say' as const), who, words: fc.array(word, { minLength: 1, maxLength: 4 }) }),
  fc.record({ kind: fc.constant('search' as const), who, words: fc.array(word, { minLength: 1, maxLength: 2 }) }),
  fc.record({ kind: fc.constant('erase' as const), who, words: fc.constant([] as string[]) }),
);

test('whatever two accounts say and look for → each finds exactly its own sessions', async () => {
  const property = fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
    const accounts = [await makeAccount(service.db), await makeAccount(service.db)];
    const said: { who: number; id: string; words: string[] }[] = [];
    for (const { kind, who: index, words } of [...steps, ...everyWord]) {
      const account = accounts[index]!;
      if (kind === 'say') said.unshift({ who: index, id: await saySession(service.db, account.id, words), words });
      if (kind === 'erase') {
        const at = said.findIndex((session) => session.who === index);
        if (at !== -1) await eraseSession(service, account.id, said.splice(at, 1)[0]!.id);
      }
      if (kind !== 'search') continue;
      const q = encodeURIComponent(words.join(' '));
      const { body } = await service.get(`/v1/sessions?limit=100&q=${q}`, account.key).expect(200);
      const found = (body as { items: { id: string }[] }).items.map(({ id }) => id);
      const own = said.filter((session) => session.who === index && words.every((one) => session.words.includes(one)));
      expect(found).toEqual(own.map(({ id }) => id));
    }
  });
  await fc.assert(property, { numRuns: sequences, seed });
}, 3_600_000);

const everyWord = ['alpha', 'beta', 'gamma', 'delta', '会議'].flatMap((one) =>
  [0, 1].map((index) => ({ kind: 'search' as const, who: index, words: [one] })),
);
