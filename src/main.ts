import { runProgram } from './cli/program.ts';
import { loadEnvFile } from './config/env.ts';

loadEnvFile('.env');
await runProgram(process.argv.slice(2));
