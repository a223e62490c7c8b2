/** `npm run model -- …`: the models of RECOGNIZER=sherpa-onnx. */
import { runCommand } from '../terminal/run-command.ts';
import { modelCommand } from './program.ts';

await runCommand(modelCommand);
