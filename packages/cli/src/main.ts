#!/usr/bin/env node
import { runCommandLine } from "./command-line.ts";
import { makeUpForOlderNode } from "./older-node.ts";
import { processConsole } from "./terminal/console.ts";

// Not awaited here: the bundle is not a module that could wait.
void start();

async function start(): Promise<void> {
  await makeUpForOlderNode();
  process.exitCode = await runCommandLine(process.argv.slice(2), processConsole());
}
