//! A day in the life of a client by openapi-generator (Rust, reqwest).
use std::{env, error::Error as StdError, path::PathBuf};

use generated::apis::configuration::Configuration;
use generated::apis::sessions_api::{self, GetSessionError, ListSessionsError};
use generated::apis::transcriptions_api::{self, CreateTranscriptionError};
use generated::apis::Error;
use generated::models::{SessionStatus, Transcript, TranscriptInclude, TranscriptionJob};
use serde_json::json;

fn variable(name: &str) -> String {
    env::var(name).unwrap()
}

fn client_with(key: &str) -> Configuration {
    Configuration {
        base_path: variable("API_URL"),
        bearer_access_token: Some(key.to_owned()),
        ..Configuration::new()
    }
}

async fn upload(
    client: &Configuration,
    speakers: Option<i32>,
) -> Result<TranscriptionJob, Error<CreateTranscriptionError>> {
    let recording = PathBuf::from(variable("AUDIO"));
    transcriptions_api::create_transcription(client, recording, Some(&variable("RUN_ID")), None, None, None, None, None, None, speakers, None).await
}

async fn final_transcript(client: &Configuration, id: &str) -> Result<Transcript, Box<dyn StdError>> {
    loop {
        let include = Some(TranscriptInclude::Words);
        let transcript = sessions_api::get_transcript(client, id, Some(30), include, None, None, None).await?;
        if matches!(transcript.status, SessionStatus::Completed | SessionStatus::Failed) {
            return Ok(transcript);
        }
    }
}

/// Of a typed error.
fn entity<Success, Entity>(answer: Result<Success, Error<Entity>>) -> Entity {
    match answer {
        Err(Error::ResponseError(refusal)) => refusal.entity.expect("an error of a declared type"),
        _ => panic!("no refusal"),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn StdError>> {
    let client = client_with(&variable("API_KEY"));
    let job = upload(&client, None).await?;
    let session_id = job.session_id.to_string();
    let transcript = final_transcript(&client, &session_id).await?;
    let session = sessions_api::get_session(&client, &session_id).await?;
    let finals = Some(vec![SessionStatus::Completed, SessionStatus::Failed]);
    let page = sessions_api::list_sessions(&client, Some(5), None, finals, None, None, None, None, None).await?;

    let stranger = client_with("wrong");
    // Whatever the status is, an error is read as the first variant, since all have the same fields.
    let ListSessionsError::Status400(refused) =
        entity(sessions_api::list_sessions(&stranger, None, None, None, None, None, None, None, None).await)
    else {
        panic!("no problem")
    };
    let GetSessionError::Status400(unknown) = entity(sessions_api::get_session(&client, &variable("RUN_ID")).await)
    else {
        panic!("no problem")
    };
    let CreateTranscriptionError::Status400(reused) = entity(upload(&client, Some(1)).await) else {
        panic!("no problem")
    };

    let text: Vec<&str> = transcript.segments.iter().map(|segment| segment.text.as_str()).collect();
    let words: usize = transcript.segments.iter().map(|segment| segment.words.as_ref().map_or(0, Vec::len)).sum();
    let experience = json!({
        "listed": page.items.len(),
        "status": session.status,
        "segments": transcript.segments.len(),
        "text": text.join(" "),
        "words": words,
        "problems": [refused.code, unknown.code, reused.code],
    });
    println!("{experience}");
    Ok(())
}
