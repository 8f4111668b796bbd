import { testAsUsers } from "../as-users.ts";
import { scenarios } from "./ahead-scenarios.ts";

testAsUsers({ file: new URL("ahead-scenarios.ts", import.meta.url).href, scenarios });
