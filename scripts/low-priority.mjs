// Loaded before a test file: it and the processes it starts, such as a browser, work when others beside it need no processor.
import { constants, setPriority } from 'node:os';

setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
