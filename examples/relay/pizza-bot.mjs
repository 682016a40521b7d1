// A bot for Twilio's ConversationRelay, as its documentation describes one: the TwiML that Twilio fetches, and the WebSocket that
// it opens. Nothing in it knows of Offhook: `dialog: { kind: relay, url: ws://…/relay }` in a bot's file runs it as it is.
// node examples/relay/pizza-bot.mjs 3000
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

const http = createServer((request, response) => {
  if (request.url !== '/twiml') return response.writeHead(404).end();
  const relay = `wss://${request.headers.host}/relay`;
  return response
    .writeHead(200, { 'content-type': 'text/xml' })
    .end(
      `<Response><Connect><ConversationRelay url="${relay}" welcomeGreeting="Which pizza?" dtmfDetection="true" /></Connect></Response>`,
    );
});

const sockets = new WebSocketServer({ server: http, path: '/relay' });
sockets.on('connection', (socket) => {
  let callSid;
  /** What is known of the call; a call that comes back on another socket begins a new one. */
  let order;
  const send = (message) => socket.send(JSON.stringify(message));

  /** Tokens as a model streams them; the last one ends the answer. */
  const say = (...tokens) => {
    for (const [index, token] of tokens.entries()) send({ type: 'text', token, last: index === tokens.length - 1 });
  };

  socket.on('message', (data) => {
    const message = JSON.parse(data);
    switch (message.type) {
      case 'setup':
        callSid = message.callSid;
        order = { shop: message.customParameters.shop, pizzas: [], keys: '' };
        break;
      case 'prompt': {
        if (/\b(done|nothing|goodbye)\b/iu.test(message.voicePrompt)) {
          say('Thank you. ', 'Goodbye.');
          send({ type: 'end', handoffData: JSON.stringify({ callSid, ...order }) });
          break;
        }
        order.pizzas.push(message.voicePrompt);
        say(`One ${message.voicePrompt} `, `from ${order.shop}. `, 'Anything else?');
        break;
      }
      case 'dtmf': {
        // A customer number has four keys: nothing is said before the last.
        order.keys += message.digit;
        if (order.keys.length === 4) say(`Welcome back, customer ${order.keys.split('').join(' ')}.`);
        break;
      }
      case 'interrupt':
        order.interruptedAfter = message.utteranceUntilInterrupt;
        break;
      case 'error':
        console.error(message.description);
        break;
      default:
        break;
    }
  });
});

http.listen(Number(process.argv[2] ?? 3000), '127.0.0.1', () => {
  console.log(`ws://127.0.0.1:${http.address().port}/relay`);
});
