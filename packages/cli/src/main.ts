#!/usr/bin/env node
import { runCommandLine } from "./command-line.ts";
import { makeUpForOlderNode } from "./older-node.ts";
import { processConsole } from "./terminal/console.ts";

// Not awaited, because the bundle is not a module with top-level await.
void start();

async function start(): Promise<void> {
  await makeUpForOlderNode();
  process.exitCode = await runCommandLine(process.argv.slice(2), processConsole());
}
