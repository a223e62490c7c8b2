import { judgeOfLanguage } from './generator.ts';
import { go } from './go.ts';
import { java } from './java.ts';
import { kotlin } from './kotlin.ts';
import { php } from './php.ts';
import { python } from './python.ts';
import { ruby } from './ruby.ts';
import { rust } from './rust.ts';

export const openapiGenerator = [java, python, go, php, ruby, rust, kotlin].map(judgeOfLanguage);
