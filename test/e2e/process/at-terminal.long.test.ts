import { commands, painting, testAtTerminal, usePlace } from "./terminal-commands.ts";

testAtTerminal(usePlace(), commands, painting);
