#!/usr/bin/env node
import { runCommandLine } from "./command-line.ts";
import { processConsole } from "./terminal/console.ts";

process.exitCode = await runCommandLine(process.argv.slice(2), processConsole());
