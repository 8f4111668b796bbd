import { testAsUsers } from "../as-users.ts";
import { scenarios } from "../give-way-scenarios.ts";

testAsUsers({ file: new URL("../give-way-scenarios.ts", import.meta.url).href, scenarios });
