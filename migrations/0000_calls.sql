CREATE SCHEMA "offhook";
--> statement-breakpoint
CREATE TABLE "offhook"."analyses" (
	"tenant_id" text NOT NULL,
	"call_id" text NOT NULL,
	"version" integer NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"document" jsonb NOT NULL,
	CONSTRAINT "analyses_tenant_id_call_id_version_pk" PRIMARY KEY("tenant_id","call_id","version")
);
--> statement-breakpoint
CREATE TABLE "offhook"."attachments" (
	"tenant_id" text NOT NULL,
	"call_id" text NOT NULL,
	"leg_id" text NOT NULL,
	"index" integer NOT NULL,
	"id" text NOT NULL,
	"stream_id" text NOT NULL,
	"started_at_ms" bigint NOT NULL,
	"ended_at_ms" bigint,
	"end_reason" text,
	CONSTRAINT "attachments_tenant_id_call_id_id_pk" PRIMARY KEY("tenant_id","call_id","id")
);
--> statement-breakpoint
CREATE TABLE "offhook"."calls" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"revision" integer NOT NULL,
	"bot_name" text NOT NULL,
	"carrier" text NOT NULL,
	"carrier_call_id" text NOT NULL,
	"from_number" text NOT NULL,
	"to_number" text NOT NULL,
	"direction" text NOT NULL,
	"language" text NOT NULL,
	"started_at_ms" bigint NOT NULL,
	"answered_at_ms" bigint,
	"ended_at_ms" bigint,
	"end_reason" text,
	"digits" text NOT NULL,
	"recording_path" text,
	"recording_sidecar_path" text,
	"recording_started_at_ms" bigint,
	"turn_count" integer NOT NULL,
	"summary" jsonb NOT NULL,
	"timeline" jsonb NOT NULL,
	CONSTRAINT "calls_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
CREATE TABLE "offhook"."legs" (
	"tenant_id" text NOT NULL,
	"call_id" text NOT NULL,
	"index" integer NOT NULL,
	"id" text NOT NULL,
	"started_at_ms" bigint NOT NULL,
	"ended_at_ms" bigint,
	CONSTRAINT "legs_tenant_id_call_id_id_pk" PRIMARY KEY("tenant_id","call_id","id")
);
--> statement-breakpoint
CREATE TABLE "offhook"."turns" (
	"tenant_id" text NOT NULL,
	"call_id" text NOT NULL,
	"index" integer NOT NULL,
	"input_kind" text NOT NULL,
	"caller_text" text NOT NULL,
	"bot_text" text NOT NULL,
	"bot_heard_text" text NOT NULL,
	"interrupted" boolean NOT NULL,
	"latencies" jsonb NOT NULL,
	"started_at_ms" bigint NOT NULL,
	"bot_started_at_ms" bigint,
	"bot_ended_at_ms" bigint,
	CONSTRAINT "turns_tenant_id_call_id_index_pk" PRIMARY KEY("tenant_id","call_id","index")
);
--> statement-breakpoint
ALTER TABLE "offhook"."analyses" ADD CONSTRAINT "analyses_tenant_id_call_id_calls_tenant_id_id_fk" FOREIGN KEY ("tenant_id","call_id") REFERENCES "offhook"."calls"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "offhook"."attachments" ADD CONSTRAINT "attachments_tenant_id_call_id_calls_tenant_id_id_fk" FOREIGN KEY ("tenant_id","call_id") REFERENCES "offhook"."calls"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "offhook"."legs" ADD CONSTRAINT "legs_tenant_id_call_id_calls_tenant_id_id_fk" FOREIGN KEY ("tenant_id","call_id") REFERENCES "offhook"."calls"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "offhook"."turns" ADD CONSTRAINT "turns_tenant_id_call_id_calls_tenant_id_id_fk" FOREIGN KEY ("tenant_id","call_id") REFERENCES "offhook"."calls"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "calls_recent" ON "offhook"."calls" USING btree ("tenant_id","started_at_ms" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "calls_by_carrier_id" ON "offhook"."calls" USING btree ("tenant_id","carrier","carrier_call_id");