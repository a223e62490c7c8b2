import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { ReadingInput } from '../../../../src/api/reads/reading-input.ts';
import type { Response } from 'express';

const signalOf = () => new AbortController().signal;

// A listener for each use made Node warn of a leak when a long transcript was sent.
test('its signal asked for twice → the same one, which listens once, and ends with the answer', () => {
  const res = new ServerResponse(new IncomingMessage(new Socket()));
  const input = new ReadingInput({}, signalOf(), res as Response, signalOf);
  const { signal } = input;
  expect(input.signal).toBe(signal);
  expect(res.listenerCount('close')).toBe(1);
  res.emit('close');
  expect(signal.aborted).toBe(true);
});
