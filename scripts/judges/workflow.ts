import { copyFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect } from './judge.ts';
import type { Judge } from './judge.ts';

const redocly = resolve(import.meta.dirname, '../../node_modules/.bin/redocly');
const workflow = new URL('arazzo/transcribe.arazzo.yaml', import.meta.url);

/** The main job as a consumer's tool reads it from an Arazzo document. */
export const arazzo: Judge = {
  name: 'arazzo',
  tool: 'Redocly respect (Arazzo)',
  isQuick: true,
  async judge({ folder, run, contract, service }) {
    const env = { REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', REDOCLY_TELEMETRY: 'off' };
    const version = (await run([redocly, '--version'], { env })).trim();
    await copyFile(workflow, join(folder, 'transcribe.arazzo.yaml'));
    await copyFile(contract, join(folder, 'openapi.json'));
    await copyFile(service.audio, join(folder, 'meeting.wav'));
    const how = ['--input', `key=${service.key}`, '--server', `api=${service.url}`];
    const said = await run([redocly, 'respect', 'transcribe.arazzo.yaml', ...how], { env });
    expect(said.includes('Steps: 3 passed, 3 total'), 'not every step passed');
    return { version, did: 'uploaded, waited for and read a transcript, as one Arazzo workflow says' };
  },
};
