CREATE TABLE "offhook"."dial_days" (
	"tenant_id" text NOT NULL,
	"day_ms" bigint NOT NULL,
	"asker" text NOT NULL,
	"calls" integer NOT NULL,
	"cost_micros" bigint NOT NULL,
	"is_told" boolean NOT NULL,
	CONSTRAINT "dial_days_tenant_id_day_ms_asker_pk" PRIMARY KEY("tenant_id","day_ms","asker")
);
--> statement-breakpoint
ALTER TABLE "offhook"."dial_days" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "offhook"."campaigns" ADD COLUMN "created_by" text;--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."dial_days" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));