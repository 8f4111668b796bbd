import { hostSuite } from "./host-suite.ts";

await hostSuite(new URL("host/activation.ts", import.meta.url));
