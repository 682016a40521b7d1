// Callers and a stand-in for the speech platform, in one process beside the gateway that `offhook bench` measures.
import type { z } from 'zod';
import { systemClock } from '../../kernel/clock.ts';
import { LoadCarrier } from '../../sim/load/load-carrier.ts';
import { type LoadSpeech, startLoadSpeech } from '../../sim/load/load-speech.ts';
import { type callersReport, placeRequest, answerRequests, percentile, meterUsage, type Usage } from './bench-child.ts';

let speech: LoadSpeech | undefined;
let carrier: LoadCarrier | undefined;
let finish: (() => Usage) | undefined;

async function standIn() {
  speech = await startLoadSpeech(systemClock);
  const { authUrl, asrUrl, ttsUrl, apiKey } = speech;
  return { authUrl, asrUrl, ttsUrl, apiKey };
}

async function place(argument: unknown): Promise<void> {
  const { target, calls } = placeRequest.parse(argument);
  if (speech !== undefined) speech.asSpoken = true;
  carrier = new LoadCarrier(target, systemClock);
  await carrier.place(calls);
}

function measure(): void {
  if (carrier !== undefined) carrier.notes.measuring = true;
  finish = meterUsage();
}

function report(): z.infer<typeof callersReport> {
  if (carrier === undefined || finish === undefined) throw new Error('nothing was measured');
  const { notes, live } = carrier;
  notes.measuring = false;
  const turnMs = notes.turns.map(({ afterMs }) => afterMs);
  return {
    ...finish(),
    live,
    lost: notes.lost,
    lateP99Ms: percentile(notes.lateMs, 0.99) ?? 0,
    turnP50Ms: percentile(turnMs, 0.5) ?? null,
    turnP99Ms: percentile(turnMs, 0.99) ?? null,
  };
}

function hangUp(): void {
  carrier?.[Symbol.dispose]();
  carrier = undefined;
}

answerRequests({ standIn, place, measure, report, hangUp }, async () => {
  hangUp();
  await speech?.[Symbol.asyncDispose]();
});
