import { NotRun } from '../judge.ts';
import type { Judge } from '../judge.ts';

export const csharp: Judge = {
  ...{ name: 'openapi-generator-csharp', tool: 'openapi-generator (C#)', isQuick: false },
  async judge({ fetch }) {
    await fetch(['dotnet', '--version']);
    throw new NotRun('there is no driver for it yet');
  },
};
