import fc from 'fast-check';
import { says, ScriptedRecognizer } from '../support/models/scripted-recognizer.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { useService } from '../support/service/use-service.ts';
import { tone } from '../support/uploads/uploads.ts';
import { cases, seed, send } from './requests.ts';

type Step = { account: 0 | 1; pick: number } & (
  | { kind: 'upload'; pitch: number; idempotencyKey: string | undefined }
  | { kind: 'list'; limit: number }
  | { kind: 'read' | 'poll' | 'spy' }
);

const step: fc.Arbitrary<Step> = fc
  .tuple(
    fc.constantFrom<0 | 1>(0, 1),
    fc.nat(),
    fc.oneof(
      fc.record({
        kind: fc.constant<'upload'>('upload'),
        pitch: fc.integer({ min: 4, max: 7 }),
        idempotencyKey: fc.constantFrom(undefined, 'a', 'b'),
      }),
      fc.record({ kind: fc.constant<'list'>('list'), limit: fc.integer({ min: 1, max: 5 }) }),
      fc.record({ kind: fc.constantFrom<'read' | 'poll' | 'spy'>('read', 'poll', 'spy') }),
    ),
  )
  .map(([account, pick, action]) => ({ account, pick, ...action }));

/** What a client knows of its own sessions. */
class Model {
  readonly sessions: string[] = [];
  readonly byKey = new Map<string, { sessionId: string; pitch: number }>();
  readonly final = new Set<string>();

  pick(index: number): string | undefined {
    return this.sessions[index % Math.max(1, this.sessions.length)];
  }
}

const service = await useService({ env: { LOG_LEVEL: 'silent' } });
beforeAll(async () => {
  await service.work(new ScriptedRecognizer(async () => says('word')));
});

async function take(action: Step, keys: string[], models: [Model, Model]): Promise<void> {
  const model = models[action.account];
  const other = models[action.account === 0 ? 1 : 0];
  const get = (path: string, query: [string, string][] = []) =>
    send(service.url, { method: 'GET', path, query, headers: {} }, keys[action.account]!);

  if (action.kind === 'upload') {
    const headers: Record<string, string> = action.idempotencyKey ? { 'Idempotency-Key': action.idempotencyKey } : {};
    const form = new FormData();
    form.append('file', new Blob([await tone(100, action.pitch)]), 'tone.wav');
    const request = { method: 'POST', path: '/transcriptions', query: [], headers };
    const { status, body } = await send(service.url, request, keys[action.account]!, form);
    const before = model.byKey.get(action.idempotencyKey ?? '');
    if (before === undefined) {
      expect(status).toBe(202);
      model.sessions.push(String(body.sessionId));
      if (action.idempotencyKey)
        model.byKey.set(action.idempotencyKey, { sessionId: String(body.sessionId), pitch: action.pitch });
    } else if (before.pitch === action.pitch) {
      expect({ status, sessionId: body.sessionId }).toEqual({ status: 202, sessionId: before.sessionId });
    } else {
      expect({ status, code: body.code }).toEqual({ status: 422, code: 'idempotency_key_reused' });
    }
    return;
  }
  if (action.kind === 'list') {
    const seen: string[] = [];
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const query: [string, string][] = [
        ['limit', String(action.limit)],
        ...(cursor ? [['cursor', cursor] as [string, string]] : []),
      ];
      const { body } = await get('/sessions', query);
      seen.push(...(body.items as { id: string }[]).map(({ id }) => id));
      cursor = body.nextCursor as string | undefined;
    }
    expect(seen).toEqual(model.sessions.toReversed());
    return;
  }
  if (action.kind === 'spy') {
    const id = other.pick(action.pick);
    if (id === undefined) return;
    for (const path of [`/sessions/${id}`, `/sessions/${id}/transcript`]) {
      const { status, body } = await get(path);
      expect({ status, code: body.code }).toEqual({ status: 404, code: 'session_not_found' });
    }
    return;
  }
  const id = model.pick(action.pick);
  if (id === undefined) return;
  if (action.kind === 'read') {
    const { status, body } = await get(`/sessions/${id}`);
    expect({ status, id: body.id }).toEqual({ status: 200, id });
    if (model.final.has(id)) expect(body.status).toBe('completed');
    return;
  }
  const { body } = await get(`/sessions/${id}/transcript`, [['wait', '30']]);
  expect(body).toMatchObject({ sessionId: id, status: 'completed', durationMs: 100, segments: [{ text: 'word' }] });
  model.final.add(id);
}

const sequences = Math.ceil(cases / 20);

test(`${sequences} sequences of uploads, lists, reads and polls by two accounts → each sees its own, all of it, only it (seed ${seed})`, async () => {
  const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 15 }), async (steps) => {
    const limits = { requests_per_minute: 1_000_000 };
    const accounts = await Promise.all([makeAccount(service.db, { limits }), makeAccount(service.db, { limits })]);
    const models: [Model, Model] = [new Model(), new Model()];
    for (const action of steps)
      await take(
        action,
        accounts.map(({ key }) => key),
        models,
      );
  });
  await fc.assert(property, { numRuns: sequences, seed });
});
