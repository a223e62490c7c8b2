/** The one door to the object store: how it is asked, for how long, and what its errors mean. */
import { S3Client } from '@aws-sdk/client-s3';
import { AudioStoreAway, AudioUnreadable } from '../audio-store.ts';
import { operatorFaultBehind } from '../../ops/operator-fault.ts';
import type { ObjectPlace } from '../../config/values.ts';

const connectionTimeoutMs = 5_000;
/** Without a byte in either direction. Some stores put the parts of a large object together in silence. */
const silenceMs = 10_000;
const maxAttempts = 3;

/** ms since the epoch, by the store's own clock: the header `Date` of each answer. */
const answeredAt = new WeakMap<object, number>();

/** Self-hosted stores have no name for each bucket, so the bucket stands in the path. */
export function connect({ endpoint, region }: ObjectPlace): S3Client {
  const client = new S3Client({
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...(region !== undefined && { region }),
    maxAttempts,
    requestHandler: { connectionTimeout: connectionTimeoutMs, socketTimeout: silenceMs },
  });
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const { headers } = result.response as { headers: Record<string, string | undefined> };
      answeredAt.set(result.output!, Date.parse(headers['date'] ?? ''));
      return result;
    },
    { step: 'deserialize', priority: 'high' },
  );
  return client;
}

/** When the store gave this answer, in ms since the epoch by its own clock. */
export function storeTimeOf(answer: object): number {
  const time = answeredAt.get(answer) ?? NaN;
  if (Number.isNaN(time)) throw new Error('the object store does not say what time it is');
  return time;
}

/** Whether the store said no with one of these codes. */
export const isRefusal = (error: unknown, ...codes: string[]): boolean =>
  Error.isError(error) && codes.includes(error.name);

/**
 * Asks the store for something.
 * @throws {AudioStoreAway} for whatever only the operator can put right: no connection, no permission, no bucket
 * @throws {AudioUnreadable}
 * @throws a fault of this machine's own disk, as it is
 * @throws the reason of `signal`
 */
export async function ask<T>(what: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await what();
  } catch (error) {
    signal?.throwIfAborted();
    if (isDamaged(error)) throw new AudioUnreadable(`an object is not what was put there: ${error.message}`);
    const fault = operatorFaultBehind(error) as NodeJS.ErrnoException | undefined;
    throw fault === undefined || fault.syscall === 'connect' ? away(error) : fault;
  }
}

/** The SDK compares what it has read with the checksum that the store keeps (`@smithy/core`, serde). Its error has no name. */
const isDamaged = (error: unknown): error is Error =>
  Error.isError(error) && error.message.startsWith('Checksum mismatch');

/** Says why, without the request: its headers hold a signature. */
function away(error: unknown): AudioStoreAway {
  const { name, message, code } = error as NodeJS.ErrnoException;
  // A connection that is refused at several addresses has its reason in the code alone.
  const reason = message || code || 'no answer';
  return new AudioStoreAway(`the object store can not be used: ${name === 'Error' ? reason : `${name}: ${reason}`}`);
}
