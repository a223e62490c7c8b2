import { access } from 'node:fs/promises';
import { isInstalled, modelFolder } from '../../src/recognizers/sherpa-onnx/installed-models.ts';
import { knownModels } from '../../src/recognizers/sherpa-onnx/known-models.ts';
import { table } from '../terminal/table.ts';
import { readableSize } from '../terminal/text.ts';
import { partialFolder } from './staging.ts';
import type { KnownModel } from '../../src/recognizers/sherpa-onnx/known-models.ts';

export interface ListedModel extends Pick<KnownModel, 'name' | 'kind' | 'languages' | 'bytes'> {
  speed: KnownModel['speed'] | undefined;
  times: KnownModel['times'] | undefined;
  id: string;
  installed: boolean;
  /** A part of it was downloaded, and a download continues from there. */
  begun: boolean;
  /** Where it is, or will be. */
  folder: string;
}

export async function listModels(dataDir: string): Promise<ListedModel[]> {
  return Promise.all(
    knownModels.map(async (model) => {
      const { name, kind, languages, speed, times, bytes } = model;
      const folder = modelFolder(dataDir, model);
      const installed = await isInstalled(folder, model);
      const begun = await access(partialFolder(folder)).then(
        () => true,
        () => false,
      );
      return {
        id: name,
        name,
        kind,
        languages,
        ...{ speed, times, bytes, installed, begun, folder },
      };
    }),
  );
}

const what: Partial<Record<KnownModel['kind'], string>> = {
  diarization: 'tells speakers apart',
  'voice detection': 'finds speech',
};

export function modelTable(models: readonly ListedModel[]): string {
  const columns = [
    { head: 'Name' },
    { head: 'Languages' },
    { head: 'Times' },
    { head: 'Speed' },
    { head: 'Size', align: 'right' as const },
    { head: 'Installed' },
  ];
  const rows = models.map(({ name, kind, languages, times, speed, bytes, installed, begun }) => [
    name,
    what[kind] === undefined ? languages : `${languages} (${what[kind]})`,
    times ?? '',
    speed ?? '',
    readableSize(bytes),
    installed ? 'yes' : begun ? 'in part' : 'no',
  ]);
  return `${table(columns, rows, 'No model is known.')}

Times: what is known to be said when. Speed: as published. Our tests run moonshine-tiny and vad; of the others
tiny ones of the same kinds.`;
}
