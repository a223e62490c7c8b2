import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import ts from 'typescript';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { parse } from 'yaml';
import { projectFolder } from './copy.ts';
import type { OpenAPI3 } from 'openapi-typescript';
import type { ChangedFiles } from './copy.ts';

/** What ties the contract to the server. */
const serverFiles = /^(codegen|handlers|src\/(api|sessions))\/|^src\/app\.ts$/;
const clientFile = 'scripts/judges/drivers/typescript/openapi-fetch.ts';
const clientTypes = 'scripts/judges/drivers/typescript/api.ts';

/** The TypeScript compiler, for the project with some files changed. It reads the project once. */
export class Compiler {
  readonly #files: string[];
  readonly #service: ts.LanguageService;
  readonly #ownClientTypes: ChangedFiles;
  #changed: ChangedFiles;
  #version = 0;

  static async make(): Promise<Compiler> {
    return new Compiler(await typesForClients(await readFile(join(projectFolder, 'openapi.yaml'), 'utf8')));
  }

  private constructor(ownClientTypes: ChangedFiles) {
    this.#ownClientTypes = ownClientTypes;
    this.#changed = ownClientTypes;
    const { config } = ts.readConfigFile(join(projectFolder, 'tsconfig.json'), ts.sys.readFile);
    const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, projectFolder);
    this.#files = [...fileNames.map((name) => relative(projectFolder, name)), clientFile];
    const text = (name: string) => this.#changed[relative(projectFolder, name)] ?? ts.sys.readFile(name);
    this.#service = ts.createLanguageService({
      getCompilationSettings: () => ({ ...options, incremental: false }),
      getScriptFileNames: () => this.#files.map((path) => join(projectFolder, path)),
      getScriptVersion: (name) => (relative(projectFolder, name) in this.#changed ? `changed ${this.#version}` : '0'),
      getScriptSnapshot: (name) => ts.ScriptSnapshot.fromString(text(name) ?? ''),
      getCurrentDirectory: () => projectFolder,
      getDefaultLibFileName: ts.getDefaultLibFilePath,
      fileExists: (name) => relative(projectFolder, name) in this.#changed || ts.sys.fileExists(name),
      readFile: text,
    });
  }

  /** Errors of the server's code with these files. */
  serverFaults(changed: ChangedFiles): string[] {
    return this.#faults(changed, (path) => serverFiles.test(path));
  }

  /** Errors of a client's code that is generated from the contract. */
  async clientFaults(yaml: string): Promise<string[]> {
    return this.#faults(await typesForClients(yaml), (path) => path === clientFile);
  }

  #faults(changed: ChangedFiles, isJudged: (path: string) => boolean): string[] {
    this.#changed = { ...this.#ownClientTypes, ...changed };
    this.#version += 1;
    const judged = this.#files.filter(isJudged).map((path) => join(projectFolder, path));
    const found = judged.flatMap((name) => this.#service.getSemanticDiagnostics(name));
    return found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' ').slice(0, 200));
  }
}

/** As a client of openapi-typescript would generate them. */
async function typesForClients(yaml: string): Promise<ChangedFiles> {
  return { [clientTypes]: astToString(await openapiTypescript(parse(yaml) as OpenAPI3)) };
}
