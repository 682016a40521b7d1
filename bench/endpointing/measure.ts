// How soon a turn is taken as complete, and how many are cut off: turns of recorded people, through the voice detector and the turn machine.
// Run: npm run bench -- endpointing [--json] [--calls 100] [--most-pause 900] [--seed 20260101] [--audio FOLDER] [--model FILE.onnx]
import { openSmartTurn } from '../../src/call/inbound/end-of-turn/smart-turn.ts';
import { DEFAULT_ENDPOINTING, DEFAULT_TURN_SETTINGS, type TurnSettings } from '../../src/call/turn/turn-settings.ts';
import { seededRandom } from '../../src/audio/tone.ts';
import { printDocument, quantiles, readOptions, shareOf } from '../document.ts';
import { HUMAN_FOLDER, readClips } from '../recordings.ts';
import { type Ended, type Judge, play, recordCall, type RecordedCall } from './call.ts';
import { SPEECH_LEVEL_DB, TurnMaker } from './turns.ts';

const values = readOptions({ calls: '100', 'most-pause': '900', seed: '20260101', audio: HUMAN_FOLDER, model: '' });

const TURNS_A_CALL = 6;
/** The wait of which nothing else is known: the points of each curve. */
const WAITS_MS = [300, 400, 500, 560, 600, 640, 800, 1_000];
const ASK_MODEL_MS = 180;

/** Says nothing: the silence alone ends a turn. */
const NO_EVIDENCE = {
  missing: 0,
  likelyMore: 0,
  unlikelyMore: 0,
  whole: 0,
  leadsOn: 0,
  number: 0,
  sentence: 0,
  ownPause: 0,
  sound: { slope: 0, offset: 0, least: 0, most: 0 },
};

function settingsOf(endpointingMs: number, by: 'silence' | 'cues' | 'model'): TurnSettings {
  const { endOfTurn } = DEFAULT_ENDPOINTING;
  const endpointing = {
    ...DEFAULT_ENDPOINTING,
    endpointingMs,
    endOfTurn: by === 'silence' ? { ...endOfTurn, evidence: NO_EVIDENCE } : endOfTurn,
    askModelMs: by === 'model' ? ASK_MODEL_MS : undefined,
  };
  return { ...DEFAULT_TURN_SETTINGS, endpointing };
}

/** One inference for each pause, however often the call is played. */
function judgeOf(judge: Judge): Judge {
  const known = new Map<string, Promise<number>>();
  return (pcm) => {
    const place = `${pcm.byteOffset} ${pcm.length}`;
    const answer = known.get(place) ?? judge(pcm);
    known.set(place, answer);
    return answer;
  };
}

/** @param punctuated the recogniser puts a full stop behind whatever it heard */
async function point(calls: readonly RecordedCall[], settings: TurnSettings, punctuated: boolean, judges: readonly Judge[]) {
  const ended: Ended[] = [];
  for (const [index, call] of calls.entries()) ended.push(...(await play(settings, call, punctuated, judges[index])));
  const kinds = [...new Set(ended.map(({ turn }) => turn.kind))].sort();
  return {
    endpointingMs: settings.endpointing.endpointingMs,
    cutOff: shareOf(ended, ({ cut }) => cut),
    spokenOver: shareOf(ended, ({ spokenOver }) => spokenOver),
    waitMs: quantiles(ended.flatMap(({ waitMs }) => waitMs ?? [])),
    askedMs: quantiles(ended.flatMap(({ askedMs }) => askedMs ?? [])),
    cutOffByKind: Object.fromEntries(
      kinds.map((kind) => [
        kind,
        shareOf(
          ended.filter(({ turn }) => turn.kind === kind),
          ({ cut }) => cut,
        ).rate,
      ]),
    ),
  };
}

const random = seededRandom(Number(values.seed));
const maker = new TurnMaker(readClips(values.audio, SPEECH_LEVEL_DB), random);
const calls = Array.from({ length: Number(values.calls) }, () => {
  const turns = Array.from({ length: TURNS_A_CALL }, () => maker.next(Number(values['most-pause'])));
  return recordCall(turns, random);
});
const model = values.model === '' ? undefined : await openSmartTurn(values.model);
const judges = model === undefined ? [] : calls.map(() => judgeOf((pcm) => model.judge(pcm)));
const curve = async (by: 'silence' | 'cues' | 'model', punctuated: boolean): Promise<object[]> => {
  const points: object[] = [];
  for (const waitMs of WAITS_MS) {
    console.error(`${by}${punctuated ? ', punctuated' : ''}: ${waitMs} ms`);
    points.push(await point(calls, settingsOf(waitMs, by), punctuated, by === 'model' ? judges : []));
  }
  return points;
};
printDocument({
  seed: Number(values.seed),
  silence: await curve('silence', false),
  cues: await curve('cues', false),
  cuesPunctuated: await curve('cues', true),
  ...(model === undefined ? {} : { model: await curve('model', false), modelPunctuated: await curve('model', true) }),
});
