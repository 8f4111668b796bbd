import { makeUpForOlderNode } from "@gennai/cli/older-node";

// As the command line does before anything else: here the sources run, compiled down by vitest.
await makeUpForOlderNode();
