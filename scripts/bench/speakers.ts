/** Who said what, in meetings of which it is known: the whole service with models that tell speakers apart. */
import { access, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { NotRun } from './bench.ts';
import { makeMeeting, voicesOf } from './meetings.ts';
import { startPipeline } from './pipeline-service.ts';
import { serviceEnv } from './program.ts';
import { untilAnswered } from './session-client.ts';
import { clipsIn } from './spoken-clips.ts';
import { compareSpeakers } from './who-said.ts';
import { errorRate, wordErrors } from './word-errors.ts';
import type { Bench, Findings, Setting } from './bench.ts';
import type { MeetingPlan } from './meetings.ts';
import type { PipelineRun } from './pipeline-service.ts';
import type { Client } from './session-client.ts';
import type { Attribution, Said } from './who-said.ts';
import type { WordErrors } from './word-errors.ts';

const megabyte = 1_000_000;

export const speakers: Bench = {
  name: 'speakers',
  summary:
    'who said what in meetings: --diarization MODELS [--model M] FOLDER with a folder of clips and .txt for each person',
  takes: ['diarization', 'model', 'audio'],
  run,
};

const plans: MeetingPlan[] = [
  { sound: 'clean', people: 2, minutes: 3 },
  { sound: 'clean', people: 3, minutes: 4 },
  { sound: 'clean', people: 4, minutes: 6 },
  { sound: 'clean', people: 5, minutes: 8 },
  { sound: 'overlaps', people: 3, minutes: 4 },
  { sound: 'overlaps', people: 4, minutes: 6 },
  { sound: 'reverberation', people: 3, minutes: 4 },
  { sound: 'reverberation', people: 4, minutes: 6 },
  { sound: 'noise', people: 3, minutes: 4 },
  { sound: 'noise', people: 4, minutes: 6 },
  { sound: 'telephone', people: 3, minutes: 4 },
  { sound: 'telephone', people: 4, minutes: 6 },
  { sound: 'clean', people: 4, minutes: 40 },
  { sound: 'reverberation', people: 4, minutes: 40 },
];

interface Measured extends MeetingPlan, Attribution, Pick<PipelineRun, 'ms' | 'cpuMs' | 'memory'> {
  errors: WordErrors;
}

async function run(setting: Setting): Promise<Findings> {
  const { choices, say, folder } = setting;
  const { audio, diarization, model } = choices;
  if (diarization === undefined)
    throw new NotRun('--diarization names no folder with segmentation.onnx and embedding.onnx');
  if (audio === undefined) throw new NotRun('no folder of voices is named');
  for (const name of ['segmentation.onnx', 'embedding.onnx'])
    await access(join(diarization, name)).catch(() => Promise.reject(new NotRun(`${diarization} holds no ${name}`)));
  const voices = voicesOf(await clipsIn(audio, (names) => say(`Without a .txt, left out: ${names.join(', ')}`)));
  const models = join(serviceEnv(setting, '')['DATA_DIR']!, 'models');
  await mkdir(models, { recursive: true });
  await symlink(diarization, join(models, 'diarization'));
  say('Starting PostgreSQL and the service …');
  const env = { RECOGNIZER: 'sherpa-onnx', ...(model !== undefined && { SHERPA_ONNX_MODEL: model }) };
  const { transcribe } = await startPipeline(setting, env);

  const measured: Measured[] = [];
  const chosen = setting.sized({
    full: plans,
    quick: [plans[1]!],
    tiny: [{ sound: 'telephone', people: 2, minutes: 0.2 } as const],
  });
  for (const [index, plan] of chosen.entries()) {
    say(`${nameOf(plan)} …`);
    const { file, turns } = await makeMeeting(join(folder, `meeting-${index}.wav`), voices, plan, index + 1);
    let heard: Said[] = [];
    const ours = await transcribe(file, async (client, id) => void (heard = await segmentsOf(client, id)));
    const textOf = (parts: readonly Said[]) => parts.map(({ text }) => text).join(' ');
    const errors = wordErrors(textOf(turns), textOf(heard));
    const { ms, cpuMs, memory } = ours;
    measured.push({ ...plan, ...compareSpeakers(turns, heard), errors, ...{ ms, cpuMs, memory } });
  }
  return findingsOf(measured, voices.size);
}

async function segmentsOf(client: Client, id: string): Promise<Said[]> {
  await untilAnswered(client, id);
  const headers = { Authorization: `Bearer ${client.key}` };
  const response = await fetch(`${client.url}/v1/sessions/${id}/transcript`, { headers });
  const { segments } = (await response.json()) as { segments: (Omit<Said, 'who'> & { speaker?: string })[] };
  return segments.map(({ speaker, text, startMs, endMs }) => ({ who: speaker, ...{ text, startMs, endMs } }));
}

const nameOf = ({ sound, people, minutes }: MeetingPlan) => `${sound}, ${people} people, ${minutes} min`;

function findingsOf(measured: readonly Measured[], people: number): Findings {
  const all = (of: (meeting: Measured) => number) => measured.map(of);
  const work = 'all meetings';
  return {
    sizes: { meetings: measured.length, 'people in the folder': people },
    checks: [
      {
        work,
        measure: 'people too many or too few',
        values: all(({ found, people }) => Math.abs(found - people)),
        goal: { atMost: 0 },
      },
      { work, measure: 'time given to the wrong person', values: all(({ wrongTime }) => wrongTime * 100), unit: '%' },
      {
        work,
        measure: 'words given to the wrong person',
        values: all(({ wrongPerson }) => wrongPerson * 100),
        unit: '%',
      },
      { work, measure: 'words wrong', values: all(({ errors }) => errorRate(errors) * 100), unit: '%' },
      { work, measure: 'time ÷ length', values: all(({ ms, minutes }) => ms / 60_000 / minutes) },
    ],
    figures: [
      {
        title: 'Meetings',
        head: [
          'meeting',
          'found',
          'time wrong %',
          'wrong person %',
          'wrong words %',
          's',
          'CPU s',
          'children’s peak MB',
        ],
        rows: measured.map((meeting) => [
          ...[nameOf(meeting), meeting.found, meeting.wrongTime * 100, meeting.wrongPerson * 100],
          ...[errorRate(meeting.errors) * 100, meeting.ms / 1000, meeting.cpuMs / 1000],
          meeting.memory.below / megabyte,
        ]),
      },
    ],
    raw: measured,
  };
}
