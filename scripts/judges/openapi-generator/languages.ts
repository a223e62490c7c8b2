import { csharp } from './csharp.ts';
import { judgeOfLanguage } from './generator.ts';
import { go } from './go.ts';
import { java } from './java.ts';
import { php } from './php.ts';
import { python } from './python.ts';

export const openapiGenerator = [...[java, python, go, php].map(judgeOfLanguage), csharp];
