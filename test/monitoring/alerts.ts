/** A receiver of Alertmanager's webhooks. */
import { json } from 'node:stream/consumers';
import { serve } from '../support/serve.ts';
import { until } from '../support/until.ts';

type Status = 'firing' | 'resolved';

export interface Alerts {
  url: string;
  /**
   * Waits until each of these alerts was told to be so, and calls `onTold` for each.
   * @returns false when one was not, after two minutes
   */
  all(names: string[], status: Status, onTold: (name: string) => void): Promise<boolean>;
  /** Waits until none fires. */
  calm(): Promise<unknown>;
  close(): Promise<void>;
}

interface Webhook {
  alerts: { status: Status; labels: { alertname: string; instance?: string } }[];
}

const longestMs = 120_000;

export async function receiveAlerts(): Promise<Alerts> {
  /** By name: what was told last of each of its instances. */
  const told = new Map<string, Map<string, Status>>();
  const { url, close } = await serve((req, res) => {
    void json(req).then((body) => {
      for (const { status, labels } of (body as Webhook).alerts) {
        const instances = told.get(labels.alertname) ?? new Map<string, Status>();
        told.set(labels.alertname, instances.set(JSON.stringify(labels), status));
      }
      res.end();
    });
  });
  const is = (name: string, status: Status) => {
    const all = [...(told.get(name)?.values() ?? [])];
    return status === 'firing' ? all.includes('firing') : all.every((each) => each === 'resolved');
  };
  return {
    ...{ url, close },
    async all(names, status, onTold) {
      const waits = names.map(async (name) => {
        await until(() => is(name, status), Boolean, longestMs);
        onTold(name);
      });
      return (await Promise.allSettled(waits)).every((wait) => wait.status === 'fulfilled');
    },
    calm: () => until(() => [...told.keys()].every((name) => is(name, 'resolved')), Boolean, longestMs),
  };
}
