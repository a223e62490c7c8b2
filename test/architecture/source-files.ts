/** The project's files as the architecture test sees them: what each imports, and which words of the language it uses. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';

export interface Import {
  /** A path from the project's folder for a file of ours, otherwise the name of a package or of a part of Node. */
  target: string;
  typeOnly: boolean;
}

export interface SourceFile {
  /** From the project's folder. */
  path: string;
  imports: Import[];
  /** What of the language the house does without, and the file doesn't. */
  unwanted: string[];
}

export const projectFolder = join(import.meta.dirname, '../..');
/** `dist` is there while the client is packed. In a worktree `.git` is a file. */
const notOurs = ['node_modules', '.git', 'dist'];
const notKept = /^\.data|\.log$/;

/** Everything that a clone holds. */
export function allFiles(): string[] {
  return globSync(['**/*', '.*', '{.ci,.github}/**/*'], {
    cwd: projectFolder,
    withFileTypes: true,
    exclude: ({ name }) => notOurs.includes(name) || notKept.test(name),
  })
    .filter((entry) => entry.isFile() && !notOurs.includes(entry.name))
    .map((entry) => relative(projectFolder, join(entry.parentPath, entry.name)))
    .sort();
}

export const textOf = (path: string): string => readFileSync(join(projectFolder, path), 'utf8');

export function parse(path: string, text = textOf(path)): SourceFile {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  const file: SourceFile = { path, imports: [], unwanted: [] };
  const look = (node: ts.Node): void => {
    const found = importOf(node, path);
    if (found) file.imports.push(found);
    const unwanted = unwantedIn(node);
    if (unwanted) file.unwanted.push(`${unwanted} in line ${lineOf(tree, node)}`);
    ts.forEachChild(node, look);
  };
  look(tree);
  return file;
}

const lineOf = (tree: ts.SourceFile, node: ts.Node) => tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;

function importOf(node: ts.Node, path: string): Import | undefined {
  if (ts.isImportDeclaration(node)) {
    return { target: target(node.moduleSpecifier, path), typeOnly: isTypeOnly(node.importClause) };
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier) {
    return { target: target(node.moduleSpecifier, path), typeOnly: node.isTypeOnly };
  }
  const dynamic = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
  const [specifier] = dynamic ? node.arguments : [];
  return specifier && ts.isStringLiteral(specifier) ? { target: target(specifier, path), typeOnly: false } : undefined;
}

function isTypeOnly(clause: ts.ImportClause | undefined): boolean {
  return clause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
}

function target(specifier: ts.Expression, path: string): string {
  const { text } = specifier as ts.StringLiteral;
  if (text.startsWith('.')) return join(dirname(path), text);
  return text.split('/', text.startsWith('@') ? 2 : 1).join('/');
}

function unwantedIn(node: ts.Node): string | undefined {
  if (node.kind === ts.SyntaxKind.AnyKeyword) return 'any';
  if (ts.isEnumDeclaration(node)) return 'an enum';
  if (ts.isExportAssignment(node) || node.kind === ts.SyntaxKind.DefaultKeyword) return 'a default export';
  if (ts.isParameter(node) && node.modifiers?.some(ts.isModifier)) return 'a parameter property';
  return undefined;
}
